"""Settings of desktop programs that are stored in the agent's home before the work, so that no first-run dialog shows.

A file that an image has already stays as it is.
"""

from __future__ import annotations

import shlex

LIBREOFFICE = """<?xml version="1.0" encoding="UTF-8"?>
<oor:items xmlns:oor="http://openoffice.org/2001/registry" xmlns:xs="http://www.w3.org/2001/XMLSchema"
 xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance">
<item oor:path="/org.openoffice.Setup/Product"><prop oor:name="ooSetupLastVersion" oor:op="fuse">
<value>99.0</value></prop></item>
<item oor:path="/org.openoffice.Office.Common/Misc"><prop oor:name="ShowTipOfTheDay" oor:op="fuse">
<value>false</value></prop></item>
<item oor:path="/org.openoffice.Office.Common/Misc"><prop oor:name="FirstRun" oor:op="fuse">
<value>false</value></prop></item>
<item oor:path="/org.openoffice.Office.Common/Save/Document"><prop oor:name="WarnAlienFormat" oor:op="fuse">
<value>false</value></prop></item>
</oor:items>
"""
INKSCAPE = """<?xml version="1.0" encoding="UTF-8"?>
<inkscape version="1" xmlns:inkscape="http://www.inkscape.org/namespaces/inkscape">
<group id="options"><group id="boot" enabled="0" mode="0" shown="1"/></group>
</inkscape>
"""
GIMP = "(show-tips no)\n(show-tooltips yes)\n"
AUDACITY = "PrefsVersion=1.1.1r1\n[GUI]\nShowSplashScreen=0\n[Update]\nDefaultUpdatesChecking=0\nUpdateNoticeShown=1\n"
KDENLIVE = "[version]\nversion=99\n"
QGIS = "[app]\nprojections\\\\prompt=false\n[UI]\nhideSplash=true\n"
FILES = {
    "{config}/libreoffice/4/user/registrymodifications.xcu": LIBREOFFICE,
    "{config}/inkscape/preferences.xml": INKSCAPE,
    "{config}/GIMP/2.10/gimprc": GIMP,
    "{home}/.audacity-data/audacity.cfg": AUDACITY,
    "{config}/kdenliverc": KDENLIVE,
    "{home}/.local/share/QGIS/QGIS3/profiles/default/QGIS/QGIS3.ini": QGIS,
}
"""File below the home or its folder of settings -> content. The programs are those of `desktop_programs`."""


def seeding_script() -> str:
    """Return a script for a shell that stores the files in the home of the box's user."""
    lines = ['config="${XDG_CONFIG_HOME:-$HOME/.config}"']
    for path, text in FILES.items():
        place = path.replace("{config}", "$config").replace("{home}", "$HOME")
        stored = f'mkdir -p "$(dirname "{place}")" && printf %s {shlex.quote(text)} > "{place}"'
        lines.append(f'[ -e "{place}" ] || {{ {stored}; }}')
    return "\n".join(lines)
