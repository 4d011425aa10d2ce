-- The chat's plain face: rooms and direct messages as JSON over HTTP, for programs; and, once, a company's history.
--
--   GET  /api/me, /api/people, /api/rooms          who I am, who there is, which rooms I can read
--   GET  /api/direct                               with whom I have spoken
--   GET  /api/rooms/ROOM, /api/direct/PERSON       messages, oldest first (?after=ID, ?limit=N; ?newest=1, ?before=ID)
--   POST /api/rooms/ROOM, /api/direct/PERSON       {"text": "..."}: say something
--   POST /api/rooms                                {"name": "...", "closed": false, "members": []}: a room of mine
--   GET, POST /api/rooms/ROOM/members              who is in it; {"add" | "remove" | "owner" | "member": PERSON}, by owners
--   POST /api/rooms/ROOM/topic                     {"topic": "..."}, by owners
--
-- Who asks says so by HTTP's basic authentication. WORKPLACE_OPERATOR is the password of the account `operator`, which
-- reads every room and may speak for anybody (?as=PERSON); it stands in no database.
local array = require "util.array";
local base64 = require "util.encodings".base64.decode;
local datetime = require "util.datetime";
local json = require "util.json";
local st = require "util.stanza";
local uuid = require "util.uuid";
local secure_equals = require "util.hashes".equals;
local usermanager = require "core.usermanager";
local url = require "socket.url";

local domain, rooms_domain = module.host, "rooms." .. module.host;
local operator = os.getenv("WORKPLACE_OPERATOR") or "";
local directory = prosody.paths.data .. "/people.json";
local MOST = 500;
local xmlns_user = "http://jabber.org/protocol/muc#user";
local known = {}; -- authorisations that were right, so that not every request pays for a slow hash

local function muc() return prosody.hosts[rooms_domain].modules.muc; end

local function people()
	local file = assert(io.open(directory));
	local found = json.decode(file:read("*a"));
	file:close();
	return found;
end

local function keep_people(list)
	local file = assert(io.open(directory .. ".new", "w"));
	file:write(json.encode(array(list)));
	file:close();
	assert(os.rename(directory .. ".new", directory));
end

-- Who administers the chat: the operator, and those whom the company says.
local function administers(who)
	if who == "operator" then return true; end
	for _, one in ipairs(people()) do if one.id == who then return one.admin == true; end end
	return false;
end

local function asking(request)
	local given = request.headers.authorization or "";
	local name = known[given];
	if name then return name; end
	local user, password = (base64(given:match("^[Bb]asic (.*)$") or "") or ""):match("^([^:]*):(.*)$");
	if not user or user == "" then return nil; end
	if user == "operator" then
		return operator ~= "" and secure_equals(password, operator) and user or nil;
	end
	if usermanager.test_password(user, domain, password) then
		known[given] = user;
		return user;
	end
end

local function answer(event, status, body)
	event.response.headers.content_type = "application/json";
	event.response.status_code = status;
	return json.encode(body);
end

local function refuse(event, status, why)
	if status == 401 then event.response.headers.www_authenticate = 'Basic realm="chat"'; end
	return answer(event, status, { error = why });
end

local function may_read(room, who)
	local affiliation = room:get_affiliation(who .. "@" .. domain);
	return who == "operator" or (affiliation ~= "outcast" and (affiliation ~= nil or not room:get_members_only()));
end

-- Who said it is what the server knows of the account, whatever name it gave itself in the room. The server's own mark
-- is the last one.
local function speaker(stanza)
	local by;
	for tag in stanza:childtags("x", xmlns_user) do
		local item = tag:get_child("item");
		by = item and item.attr.jid or by;
	end
	by = by or stanza.attr.from or "";
	return by:match("^([^@]*)@") or "";
end

local function messages(host, store, owner, with, query)
	local archive = module:context(host):open_store(store, "archive");
	local limit = math.min(tonumber(query.limit) or MOST, MOST);
	local found, err = archive:find(owner, {
		with = with, after = query.after, before = query.before, limit = limit, reverse = query.newest == "1";
	});
	if not found then return nil, err; end
	local list = array();
	for id, stanza, when in found do
		local text = stanza:get_child_text("body");
		if text then
			local by = store == "muc_log" and speaker(stanza) or (stanza.attr.from or ""):match("^([^@]*)@");
			list[#list + 1] = { id = id, at = datetime.datetime(when), by = by, text = text };
		end
	end
	return list;
end

local function say_in_room(room, who, text)
	local stanza = st.message({ type = "groupchat", id = uuid.generate(), from = room.jid .. "/" .. who })
		:text_tag("body", text);
	stanza:tag("x", { xmlns = xmlns_user })
		:tag("item", { affiliation = "member", role = "participant", jid = who .. "@" .. domain }):up():up();
	room:broadcast_message(stanza);
end

local function say_directly(from, to, text)
	local jid = from .. "@" .. domain;
	local session = {
		type = "c2s"; username = from; host = domain; resource = "api"; full_jid = jid .. "/api"; log = module._log;
		send = function () return true; end;
	};
	local stanza = st.message({ type = "chat", id = uuid.generate(), from = session.full_jid, to = to .. "@" .. domain })
		:text_tag("body", text);
	prosody.core_post_stanza(session, stanza, true);
end

local function said(event)
	local body = json.decode(event.request.body or "");
	local text = type(body) == "table" and body.text;
	if type(text) ~= "string" or text == "" or #text > 10000 or text:find("[%z\1-\8\11\12\14-\31]") then return nil; end
	return text;
end

local function in_room(event, who, name, query)
	local room = muc().get_room_from_jid(name .. "@" .. rooms_domain);
	if not room or not may_read(room, who) then return refuse(event, 404, "there is no such room for you"); end
	if event.request.method == "GET" then
		local found, err = messages(rooms_domain, "muc_log", name, nil, query);
		if not found then return refuse(event, 400, "no messages: " .. tostring(err)); end
		return answer(event, 200, { messages = found });
	end
	local text = said(event);
	if not text then return refuse(event, 400, 'send {"text": "..."} with 1 to 10000 bytes'); end
	say_in_room(room, who, text);
	return answer(event, 201, { room = name, by = who });
end

-- Rooms that people make and who is in them: what they could do by the chat's own protocol.
local MOST_ROOMS = 1000;

local function owns(room, who)
	return administers(who) or room:get_affiliation(who .. "@" .. domain) == "owner";
end

local function body_of(event)
	local body = json.decode(event.request.body or "");
	return type(body) == "table" and body or {};
end

local function make_room(event, who)
	local body = body_of(event);
	local name, members = body.name, body.members or {};
	if type(name) ~= "string" or not name:find("^[A-Za-z][A-Za-z0-9_-]*$") or #name > 40 or type(members) ~= "table" then
		return refuse(event, 400, "a room's name has letters, digits, _ and -");
	end
	local shown = name;
	name = name:lower(); -- addresses know no upper case
	local count = 0;
	for _ in muc().all_rooms() do count = count + 1; end
	if count >= MOST_ROOMS then return refuse(event, 403, "there are too many rooms"); end
	for _, one in ipairs(members) do
		if type(one) ~= "string" or not usermanager.user_exists(one, domain) then return refuse(event, 400, "there is no such person"); end
	end
	local room, why = muc().create_room(name .. "@" .. rooms_domain);
	if not room then return refuse(event, 409, "there is such a room: " .. tostring(why)); end
	room:set_name(shown);
	room:set_persistent(true);
	room:set_public(true);
	room:set_whois("anyone");
	room:set_affiliation(true, who .. "@" .. domain, "owner");
	for _, one in ipairs(members) do
		if one ~= who then room:set_affiliation(true, one .. "@" .. domain, "member"); end
	end
	room:set_members_only(body.closed == true);
	room:save(true);
	return answer(event, 201, { name = name });
end

-- An owner may be no member: who looks after a company's rooms without being in each of them.
local function members_of(room)
	local list = array();
	for jid, affiliation, data in room:each_affiliation() do
		if affiliation ~= "outcast" and not (data and data.outside) then list[#list + 1] = jid:match("^([^@]*)@"); end
	end
	table.sort(list);
	return list;
end

-- Moderators and leaders are marks on members: the chat itself gives them no rights.
local ROLES = { moderator = true, leader = true };

local function roles_of(room)
	local found = { owner = array(), moderator = array(), leader = array() };
	for jid, affiliation, data in room:each_affiliation() do
		local who = jid:match("^([^@]*)@");
		if affiliation == "owner" then found.owner[#found.owner + 1] = who; end
		for role in pairs(ROLES) do
			if affiliation ~= "outcast" and data and data[role] then found[role][#found[role] + 1] = who; end
		end
	end
	return found;
end

local function change_role(event, room)
	local body = body_of(event);
	local jid = tostring(body.who) .. "@" .. domain;
	if not ROLES[body.role] then return refuse(event, 400, 'role is moderator or leader'); end
	local affiliation = room:get_affiliation(jid);
	if affiliation == nil or affiliation == "outcast" then return refuse(event, 400, "this person is no member of the room"); end
	room:set_affiliation_data(jid, body.role, body.on ~= false or nil);
	room:save(true);
	return answer(event, 200, {});
end

local STANDS = { add = "member", member = "member", owner = "owner", remove = "none" };

local function change_room(event, who, room, what)
	if event.request.method == "GET" and what == "members" then return answer(event, 200, { members = members_of(room) }); end
	if event.request.method == "GET" and what == "roles" then return answer(event, 200, roles_of(room)); end
	if event.request.method == "GET" then return answer(event, 200, { topic = room:get_description() or "" }); end
	if not owns(room, who) then return refuse(event, 403, "only its owners may do this"); end
	if what == "roles" then return change_role(event, room); end
	local body = body_of(event);
	if what == "topic" then
		if type(body.topic) ~= "string" or #body.topic > 1000 then return refuse(event, 400, 'send {"topic": "..."}'); end
		room:set_description(body.topic);
		room:save(true);
		return answer(event, 200, {});
	end
	for verb, affiliation in pairs(STANDS) do
		local whom = body[verb];
		if type(whom) == "string" and usermanager.user_exists(whom, domain) then
			local jid = whom .. "@" .. domain;
			local was = room:get_affiliation(jid);
			if verb ~= "add" or (was ~= "owner" and was ~= "admin") then room:set_affiliation(true, jid, affiliation); end
			room:set_affiliation_data(jid, "outside", nil);
			room:save(true);
			return answer(event, 200, {});
		end
	end
	return refuse(event, 400, 'send {"add": "PERSON"}, or remove, owner, member');
end

local function spoken_with(event, who)
	local found, err = module:context(domain):open_store("archive", "archive"):summary(who, {});
	if not found then return refuse(event, 400, "no messages: " .. tostring(err)); end
	local list = array();
	for jid, count in pairs(found.counts or {}) do
		local other = jid:match("^([^@]*)@(.*)$");
		if other and jid == other .. "@" .. domain then list[#list + 1] = { with = other, messages = count }; end
	end
	table.sort(list, function (a, b) return a.with < b.with; end);
	return answer(event, 200, { direct = list });
end

local function in_private(event, who, other, query)
	if not usermanager.user_exists(other, domain) then return refuse(event, 404, "there is no such person"); end
	if event.request.method == "GET" then
		local found, err = messages(domain, "archive", who, other .. "@" .. domain, query);
		if not found then return refuse(event, 400, "no messages: " .. tostring(err)); end
		return answer(event, 200, { messages = found });
	end
	local text = said(event);
	if not text then return refuse(event, 400, 'send {"text": "..."} with 1 to 10000 bytes'); end
	say_directly(who, other, text);
	return answer(event, 201, { to = other, by = who });
end

-- What was said since the chat began, for the operator alone: the last MANY messages, numbered.
local MANY = 5000;
local said_so_far, last = {}, 0;

local function hear(by, text, to, room)
	if not by or by == "" or not text then return; end
	last = last + 1;
	said_so_far[last] = { by = by, text = text, to = to, room = room };
	said_so_far[last - MANY] = nil;
end

local function direct(event)
	local stanza = event.stanza;
	if stanza.attr.type == "error" or stanza.attr.type == "groupchat" then return; end
	hear((stanza.attr.from or ""):match("^([^@]*)@"), stanza:get_child_text("body"), (stanza.attr.to or ""):match("^([^@]*)@"));
end

local function in_public(event)
	hear(speaker(event.stanza), event.stanza:get_child_text("body"), nil, event.room.jid:match("^([^@]*)"));
end

module:hook("message/bare", direct, 100);
module:hook("message/full", direct, 100);
-- Which of the two hosts comes up first is drawn anew at each start, and what is hooked on one that is not there yet
-- is hooked on the server, where nothing is said.
local function hear_rooms() module:context(rooms_domain):hook("muc-broadcast-message", in_public, -100); end
if prosody.hosts[rooms_domain] then hear_rooms(); else module:hook_global("server-started", hear_rooms); end

local function heard_after(after)
	local list = array();
	after = tonumber(after) or 0;
	for number = after < 0 and last + 1 or math.max(after + 1, last - MANY + 1), last do list[#list + 1] = said_so_far[number]; end
	return { heard = list, next = last };
end

local function list_rooms(who)
	local list = array();
	for room in muc().all_rooms() do
		if may_read(room, who) then
			local closed = room:get_members_only() or false;
			list[#list + 1] = { name = room.jid:match("^([^@]*)"), title = room:get_name(), topic = room:get_description() or "", closed = closed };
		end
	end
	table.sort(list, function (a, b) return a.name < b.name; end);
	return list;
end

-- People whom an administrator adds, changes and removes.
local function add_person(event)
	local body = body_of(event);
	local id, name, password = body.id, body.name, body.password;
	if type(id) ~= "string" or not id:find("^[a-z][a-z0-9._-]*$") or #id > 60 or type(name) ~= "string" or name == "" or #name > 200
		or type(password) ~= "string" or #password < 1 or #password > 200 then
		return refuse(event, 400, "a person has an id in lower case, a name and a password");
	end
	if id == "operator" or usermanager.user_exists(id, domain) then return refuse(event, 409, "there is such a person"); end
	assert(usermanager.create_user(id, password, domain));
	local list = people();
	list[#list + 1] = { id = id, name = name, role = "", responsibilities = "", bio = tostring(body.bio or "") };
	keep_people(list);
	return answer(event, 201, { id = id });
end

local function change_person(event, id)
	local body, list, kept = body_of(event), people(), {};
	local found = false;
	for _, one in ipairs(list) do
		if one.id == id then
			found = true;
			for _, key in ipairs({ "name", "bio" }) do
				if type(body[key]) == "string" and #body[key] <= 2000 then one[key] = body[key]; end
			end
		end
		if one.id ~= id or not body.removed then kept[#kept + 1] = one; end
	end
	if not found then return refuse(event, 404, "there is no such person"); end
	if body.removed then
		local jid = id .. "@" .. domain;
		for room in muc().all_rooms() do
			if room:get_affiliation(jid) then room:set_affiliation(true, jid, nil); room:save(true); end
		end
		usermanager.delete_user(id, domain);
		known = {};
	end
	keep_people(kept);
	return answer(event, 200, {});
end

local function handle(event, path)
	local who = asking(event.request);
	if not who then return refuse(event, 401, "say who you are: basic authentication"); end
	local query = {};
	for key, value in (event.request.url.query or ""):gmatch("([^&=]+)=([^&]*)") do
		query[key] = url.unescape(value);
	end
	if query.as and who == "operator" and usermanager.user_exists(query.as, domain) then who = query.as; end
	local place, what = path:match("^rooms/([a-z0-9_-]+)/(%l+)$");
	if what == "members" or what == "topic" or what == "roles" then
		local room = muc().get_room_from_jid(place .. "@" .. rooms_domain);
		if not room or not may_read(room, who) then return refuse(event, 404, "there is no such room for you"); end
		return change_room(event, who, room, what);
	end
	if path == "rooms" and event.request.method == "POST" then return make_room(event, who); end
	local whom = path:match("^people/([a-z0-9._-]+)$");
	if event.request.method == "POST" and (path == "people" or whom) then
		if not administers(who) then return refuse(event, 403, "only administrators may do this"); end
		if whom then return change_person(event, whom); end
		return add_person(event);
	end
	local kind, name = path:match("^(%l+)/([a-z0-9_-]+)$");
	if kind == "rooms" then return in_room(event, who, name, query); end
	if kind == "direct" then return in_private(event, who, name, query); end
	if event.request.method == "GET" then
		if path == "me" then return answer(event, 200, { id = who }); end
		if path == "heard" and who == "operator" then return answer(event, 200, heard_after(query.after)); end
		if path == "people" then return answer(event, 200, { people = people() }); end
		if path == "direct" then return spoken_with(event, who); end
		if path == "rooms" then return answer(event, 200, { rooms = list_rooms(who) }); end
	end
	return refuse(event, 404, "there is me, people, rooms, rooms/ROOM, direct/PERSON");
end

module:depends("http");
module:provides("http", { default_path = "/api"; route = { ["GET /*"] = handle; ["POST /*"] = handle; } });

-- A company's history, put in before anybody can ask.

local function seed(plan)
	for _, one in ipairs(plan.people) do
		assert(usermanager.create_user(one.id, one.password, domain));
	end
	local muc_log = module:context(rooms_domain):open_store("muc_log", "archive");
	for _, channel in ipairs(plan.channels) do
		local jid = channel.id .. "@" .. rooms_domain;
		local room = assert(muc().create_room(jid));
		room:set_name(channel.id);
		room:set_description(channel.topic);
		room:set_persistent(true);
		room:set_public(true);
		room:set_whois("anyone");
		local inside = {};
		for _, who in ipairs(channel.members) do
			inside[who] = true;
			room:set_affiliation(true, who .. "@" .. domain, "member");
		end
		for _, who in ipairs(channel.owners) do
			room:set_affiliation(true, who .. "@" .. domain, "owner", nil, not inside[who] and { outside = true } or nil);
		end
		for key, role in pairs({ moderators = "moderator", leaders = "leader" }) do
			for _, who in ipairs(channel[key] or {}) do room:set_affiliation_data(who .. "@" .. domain, role, true); end
		end
		room:set_members_only(channel.closed);
		room:save(true);
		for _, one in ipairs(channel.messages) do
			local stanza = st.message({ type = "groupchat", id = one.id, from = jid .. "/" .. one.by })
				:text_tag("body", one.text);
			stanza:tag("x", { xmlns = xmlns_user })
				:tag("item", { affiliation = "member", role = "participant", jid = one.by .. "@" .. domain }):up():up();
			assert(muc_log:append(channel.id, one.id, stanza, one.when, "message<groupchat"));
		end
	end
end

local plan_file = os.getenv("WORKPLACE_PLAN");
if plan_file then
	module:hook_global("server-started", function ()
		local file = assert(io.open(plan_file));
		local plan = json.decode(file:read("*a"));
		file:close();
		local done, why = pcall(seed, plan);
		io.stdout:write(done and "seeded\n" or ("failed: " .. tostring(why) .. "\n"));
		io.stdout:flush();
		prosody.shutdown("seeded");
	end);
end
