-- The chat. WORKPLACE_STATE is where it keeps everything; it speaks HTTP alone, behind the front door.
local state, programs = os.getenv("WORKPLACE_STATE"), os.getenv("WORKPLACE_PROGRAMS");
data_path = state .. "/chat"
plugin_paths = { programs .. "/prosody" }
pidfile = "/tmp/prosody.pid"
daemonize = false
prosody_user = nil
log = { { levels = { min = "warn" }, to = "console" } }

modules_enabled = {
	"disco", "roster", "saslauth", "blocklist", "bookmarks", "carbons", "pep", "private", "smacks", "vcard4",
	"vcard_legacy", "ping", "mam", "groups", "bosh", "http", "posix",
}
modules_disabled = { "s2s", "c2s", "tls", "offline" }
groups_file = state .. "/chat/groups.txt"

interfaces = { "127.0.0.1" }
http_interfaces = { "127.0.0.1" }
http_ports = { 5280 }
https_ports = {}
http_default_host = "workplace"
http_max_content_size = 262144
consider_bosh_secure = true
consider_websocket_secure = true
c2s_require_encryption = false
allow_registration = false

authentication = "internal_hashed"
storage = "sql"
sql = { driver = "SQLite3", database = "chat.sqlite" }
default_archive_policy = true
archive_expires_after = "never"
muc_log_expires_after = "never"

VirtualHost "workplace"
	modules_enabled = { "workplace" }

Component "rooms.workplace" "muc"
	modules_enabled = { "muc_mam" }
	name = "Rooms"
	muc_log_by_default = true
	muc_log_all_rooms = true
	restrict_room_creation = false
	muc_room_default_public = true
	muc_room_default_persistent = true
	max_archive_query_results = 500
