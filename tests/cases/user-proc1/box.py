"""A plain box of whoever runs this, in which a program writes what /proc has of process 1; prints what it could."""

import asyncio

from worksample.box import BoxConfig, BoxLimits
from worksample.sandboxes import open_box
from worksample.sandboxes.python_toolbox import base_python

CODE = r"""
for name, said in (("oom_score_adj", b"1000"), ("autogroup", b"19"), ("coredump_filter", b"ff"), ("sched", b"0")):
    try:
        with open("/proc/1/" + name, "wb", 0) as file:
            file.write(said)
        print(name, "written")
    except OSError as error:
        print(name, type(error).__name__)
"""


async def main() -> None:
    config = BoxConfig(limits=BoxLimits(memory=256 << 20), python="none")
    async with open_box(config, kind="bubblewrap") as box:
        done = await box.run([str(base_python()), "-I", "-c", CODE])
        print(done.stdout.decode(), done.stderr.decode()[-500:])


asyncio.run(main())
