"""The words by which `rubric_checks` finds faults. English only: a criterion in another language has no faults.

Each list holds regular expressions, separated by ", ", that match whole words in any case.
"""

from __future__ import annotations

import re


def _alternatives(words: str) -> str:
    return "|".join(re.split(r",\s+", words.strip()))


def _any_word(words: str) -> re.Pattern[str]:
    return re.compile(rf"\b(?:{_alternatives(words)})\b", re.IGNORECASE)


QUOTED = re.compile(r"“[^”]*”|\"[^\"]*\"|‘[^’]*’|`[^`]*`|(?<!\w)'[^']*'(?!\w)")
MEASURE = re.compile(
    r"\d|%|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|twelve|exactly|at least|at most|no more than"
    r"|every|each|all)\b",
    re.IGNORECASE,
)
SUBJECTIVE = _any_word(r"""
    (?:high|good|professional|top|acceptable|poor|low|publication)[- ]quality, professional(?:ly|ism)?,
    quality (?:is|of), adequate(?:ly)?, appropriate(?:ly)?, good, great, nice(?:ly)?, excellent, beautiful(?:ly)?,
    attractive(?:ly)?, appealing, engaging, compelling, elegant(?:ly)?, modern, polished, creative(?:ly)?,
    intuitive(?:ly)?, user[- ]friendly, aesthetic(?:s|ally)?, pleas(?:ing|ant), reasonabl[ye], satisfactory,
    acceptable, impressive, eye[- ]catching, interesting, memorable,
    well[- ](?:written|designed|structured|organi[sz]ed|made|crafted|presented|done|formatted|executed),
    natural(?:ly)?[- ](?:sounding|looking)?, suitabl[ye], decent, tasteful(?:ly)?, persuasive(?:ly)?, catchy, fun,
    smooth(?:ly)?, stylish, fresh, strong, convincing(?:ly)?, best, bad(?:ly)?, ugly, boring
""")
UNMEASURABLE = _any_word(r"""
    thorough(?:ly|ness)?, insight(?:s|ful)?, comprehensive(?:ly)?, in[- ]depth, detailed, sufficient(?:ly)?,
    meaningful(?:ly)?, robust, extensive(?:ly)?, deep(?:ly)?, useful, helpful, effective(?:ly)?, efficient(?:ly)?,
    clear(?:ly)?, concise(?:ly)?, relevant, several, various, many, some, significant(?:ly)?, easy, easily, fast,
    quickly, obvious(?:ly)?, optimal(?:ly)?, up to standard, industry standards?, best practices, state of the art,
    readable, understandable, coherent(?:ly)?, high, low
""")
"""Beside a number or a whole ("every", "all") these words may be measurable after all."""
HEDGED = _any_word(r"""
    (?:well|good|correct|acceptable|complete|clear|absent|\w+) enough, as needed, as appropriate, if possible,
    where possible, as much as possible, as (?:\w+) as possible, and so on, etc, if necessary, as required
""")
WORKER = _any_word(r"""
    freelancers?, contractors?, workers?, candidates?, applicants?, translator (?:is|has|must),
    u\.?\s?s\.?[- ]based, \w+[- ]based (?:worker|person|writer|designer|developer|expert),
    native (?:\w+ )?(?:speakers?|writers?), years? of experience, experienced, expertise,
    (?:an? )?experts? (?:in|with), certified, qualified,
    (?:written|done|made|completed|designed|translated|created) by (?:an? |the )?(?:\w+ )?(?:person|human|expert),
    (?:written|done|made|completed|designed|translated|created) by (?:an? |the )?(?:\w+ )?(?:writer|designer|speaker),
    (?:written|done|made|completed|designed|translated|created) by (?:an? |the )?(?:\w+ )?(?:professional|lawyer),
    fluent, is available, must be available, attended meetings, portfolio
""")
_FINITE = r"""
    is, are, has, have, does, do, must, should, can, contains?, includes?, uses?, shows?, lists?, states?,
    provides?, gives?, names?, matches, match, follows?, keeps?, covers?, meets?, explains?, identif(?:y|ies),
    opens?, runs?, works?, demonstrates?, describes?, presents?, compares?, achieves?, exports?, adheres?,
    reflects?, avoids?, stays?, fits?, loads?, plays?, agrees?, carr(?:y|ies), holds?, lies, stands?, passes
"""
"""Verbs that begin a second claim; other words are too often nouns ("titles and labels")."""
COMPOUND = re.compile(
    r"\b(?:and|as well as|but|while|or)\s+(?:(?:it|they|also|then|the \w+(?: \w+)?)\s+)?(?:not\s+)?"
    rf"(?:{_alternatives(_FINITE)})\b"
    r"|;|[.!?]\s+[A-Z]\w+\s+\w+|\band/or\b",
    re.IGNORECASE,
)
VERB = _any_word(
    _FINITE.strip()
    + r""",
    was, were, be, been, cannot, may, will, would, lies, lie, stands?, comes?, says?, reads?, carry, carries,
    needs?, asks?, adds?, agrees?, begins?, ends?, belongs?, calculates?, cites?, counts?, defines?, delivers?,
    displays?, draws?, earns?, equals?, exists?, fails?, fills?, finds?, gets?, holds?, leads?, leaves?, links?,
    looks?, makes?, mentions?, moves?, notices?, parses?, pass(?:es)?, places?, preserves?, puts?, records?,
    refers?, removes?, renders?, repeats?, reports?, requires?, respects?, returns?, saves?, satisf(?:y|ies),
    separates?, specif(?:y|ies), starts?, summari[sz]es?, supports?, takes?, tells?, turns?, validates?,
    verif(?:y|ies), writes?, addresses, contradict(?:s)?, correspond(?:s)?, differ(?:s)?, exceed(?:s)?,
    ensure(?:s)?, confirm(?:s)?, select(?:s)?, combine(?:s)?, compile(?:s)?, convert(?:s)?, remain(?:s)?,
    appear(?:s)?, reject(?:s)?, trigger(?:s)?, resolve(?:s)?, apply, applies, translate(?:s)?, mark(?:s)?,
    label(?:s)?, organi[sz]e(?:s)?, group(?:s)?, rank(?:s)?, recommend(?:s)?, propose(?:s)?, quote(?:s)?,
    sort(?:s)?, check(?:s)?
"""
)
_DAY = r"(?:mon|tues|wednes|thurs|fri|satur|sun)day|tomorrow|tonight|today"
TIMELINE = re.compile(
    r"\bby (?:the )?(?:end of|close of|start of|beginning of)\b|\bdeadlines?\b|\bon time\b|\bon schedule\b"
    rf"|\btimely\b|\basap\b|\bturn-?around\b"
    rf"|\bby (?:next )?(?:{_DAY}|january|february|march|april|june|july|august|september|october"
    r"|november|december|\d{1,2}(?:st|nd|rd|th)|\d{4}-\d\d-\d\d)\b|\bpromptly\b|\bmilestones? (?:is|are|dates?)\b"
    r"|\b(?:complet|deliver|submit|submitt|finish|hand|done|return|respond|repl)\w*(?: \w+){0,3}"
    r" (?:by|before|within|in under|no later than) (?:the |a |an |\d+ |two |three |one )?(?:\w+ )?"
    r"(?:hours?|days?|weeks?|months?|deadline|date|week|day)\b"
    r"|\bwithin (?:\d+|one|two|three|a few|a) (?:business |working )?(?:hours?|days?|weeks?|months?)\b",
    re.IGNORECASE,
)
