import re
import sys

LINE = re.compile(r'(\S+) \S+ (\S+|"[^"]*") \[([^\]]+)\] "((?:[^"\\]|\\.)*)" (\d{3}) (\d+|-)')


def route(request):
    parts = request.split(" ")
    if len(parts) != 3 or not parts[1].startswith("/"):
        return None
    path = parts[1].split("?")[0].split("#")[0]
    path = re.sub(r"/\d+(?=/|$)", "/:id", path)
    return parts[0] + " " + (path.rstrip("/") or "/")


def main():
    found, bad = {}, 0
    for line in sys.stdin.buffer.read().decode("utf-8", "replace").splitlines():
        if not line.strip():
            continue
        match = LINE.fullmatch(line.strip())
        name = route(match[4]) if match else None
        if name is None:
            bad += 1
            continue
        one = found.setdefault(name, [0, 0, 0])
        one[0] += 1
        one[1] += match[5][0] == "5"
        one[2] += 0 if match[6] == "-" else int(match[6])
    for name in sorted(found, key=lambda key: (-found[key][0], key)):
        many, failed, size = found[name]
        print(f"{name}\t{many}\t{100 * failed / many:.1f}\t{size}")
    print(f"malformed\t{bad}")


main()
