# ruff: noqa: E501
"""Quaymark's letters, pages, mails, scans and small tables, as people there wrote them."""

from __future__ import annotations

HANDBOOK = """
# Handbook for everybody
Quaymark, as of January 2026. Owner: Nadia Haddad.
# How we talk
Ask in the channel that fits; direct messages are for what concerns one person. What is decided in the chat is written into the issue.
# Who decides
|What|Who|
|Spending up to 1,000 EUR|your own lead|
|Spending up to 25,000 EUR|Helena|
|Contracts above 25,000 EUR|Maren|
|What goes into a release|Petra|
|Who works on what|Idris|
# Working hours
Core time is 9:00 to 15:00 UTC. The ramp has hours of its own. Overtime is taken as time off within two months.
# When you do not know
Say so. A number that nobody can explain is worse than no number.
"""
FIRST_DAY = """
First day at Quaymark

1. Card at the front desk (Sofia).
2. Room Tern, 9:00: Yusuf and Callum.
3. Your account works in chat, tracker, files, repositories and calendar.
4. Read handbook/handbook.docx and handbook/chat.md.
5. Lunch is at half past eleven. The kettle at the ramp is not ours.
"""
CHAT = """# How we use the chat

- `@name` in a room calls somebody; without it nobody has to look.
- Who cannot answer says who can. Ask on until you know.
- What you were told in confidence you do not write down.
- Good news goes to the room, bad news first to whoever is responsible.
"""
STYLE = """
# Words for customers
Owner: Petra Novak, last changed on 9 February 2026.
We say what is better for you, not what we did. Planners and drivers are our readers.
|Not|But|
|We refactored the importer|Imports of long files now run to the end|
|Fixed bug in rounds|You can close yesterday's round until noon|
No numbers of issues, no names of colleagues, no names of other customers.
"""
NOTES_17 = """# Dispatch 1.7.0

**For planners.** You can import your orders from a file: number, customer and pallets in each line. Lines that cannot be read are listed, so that
nothing is lost quietly. Every round now shows how many pallets still fit.

**For drivers.** Nothing changes.
"""
ROADMAP = """
Roadmap of Dispatch, February 2026
                                              (draft 3 - do not send)
1.8   March     temperatures, long imports, gates
1.9   May       tariff 1.2 in the order form, signatures without a network
1.10  July      recurring orders, photos of damaged goods
later           temperature curves for customers, Dutch, what if a vehicle breaks down

Capacity: 2.5 developers until June, 3.5 from July if Callum finds somebody.
"""
COLD_CHAIN = """
# Cold chain: instruction for drivers
Depot Rotterdam, version 4 of 2 February 2026, Bram de Vries
Chilled goods travel at 2 to 5 degrees. Above 5 degrees for ten minutes the alarm rings.
Doors stay closed while you wait for a gate.
If the alarm rings: look, close, ring up the depot. Do not deliver anything that was above 8 degrees.
|Depot|Telephone|
|Rotterdam|+31 10 555 0142|
|Antwerp|+32 3 555 0187|
|Duisburg|+49 203 555 0119|
"""
INSPECTION = """
VETERINARY OFFICE         Rotterdam, 12 March 2026
Inspection of the cold store, Quaymark

Date:    Tuesday, 17 March 2026, 13:00 to 16:00 UTC
Bring:   temperature records of February
         cleaning plan, signed
Remark:  last year gate 4 did not close tight.
"""
COUNTS = """
Depot Rotterdam  counts February        Bram
week 6    18
week 7    16
week 8    21
week 9    15   (2 cancelled, not counted)
sample for Rafael: 9 by hand, checked twice
"""
ODOMETER = """
GARAGE VAN LEEUWEN            9 Feb 2026
QM-17    new odometer fitted
old reading     412 880 km
new reading           0 km
signature:  Joost
"""
NIGHT = """
To: Pavel, Bram                                       23 February 2026
Stadtbäckerei Ott - delivery by night

The bakery takes deliveries from 22:00 to 02:00, every day but Sunday, at the yard in the Hafenstraße.
Four pallets on weekdays, seven on Fridays. The first delivery is on 2 March.
The baker opens the gate himself and is in a bad mood before one o'clock.
                                                      Viktor Hale
"""
DIESEL = (
    ("week", "diesel_eur_per_litre"),
    (6, "1.69"),
    (7, "1,70"),
    (8, "1.71"),
    (9, 1.73),
    (10, "1.73 "),
    (11, "n/a"),
)
VEHICLES_HEAD = ("vehicle", "depot", "built", "pallets", "inspection due")
POST_MORTEM = """# Post-mortem: gateway in Antwerp, September 2025

**What happened.** Every Sunday between 07:00 and 08:00 no frames came from Antwerp.
**Why.** The cleaners needed a socket.
**What we changed.** A box around the plug; an alarm when a gateway was not heard for ten minutes.
**What we learned.** Ask people who are there.
"""
ON_CALL = """# On call

Sven from Monday to Thursday, Lena on Fridays, Idris at weekends. An alarm that nobody answers for 15 minutes rings at Idris'.
1. Look into ops-alerts. 2. Restart once. 3. Write down what you saw. 4. Do not restart twice without having read the log.
"""
ARCHITECTURE = """
# Dispatch from far away
Draft of 18 February 2026, Idris Bello
Dispatch keeps orders and rounds. It asks Routing for the order of stops and Tariff for prices. Telematics feeds positions and temperatures. Insights
reads exports, never the database.
|Part|Repository|Who|
|Orders, rounds|dispatch|Lena|
|Order of stops|routing|Pavel|
|Prices|tariff|Tomás|
|Positions, temperatures|telematics|Sven|
|Figures|insights|Oskar|
"""
REVIEW = """# Review of 5 March, tariff

- Surcharge: the discount is not taken into account, is that on purpose? (Grace) - *nobody present knows; finance has to say*
- Rounding: `quantize` without a mode rounds half to even. Also finance.
- Test of the surcharge uses a customer without a discount, so it cannot find either.
"""
TEST_PLAN = """
Test plan Dispatch 1.8                      Grace Okafor, 5 March 2026

A   Temperatures: QM-03 and QM-19, above and below 5 degrees
B   Imports: 999, 1,000, 1,001 and 20,000 lines
C   Gates: Rotterdam, Antwerp, Duisburg
D   Closing rounds at 23:59, 00:01, 11:59, 12:01
E   Bulk cancellation: only that it is off
Regression: 214 tests, twice
"""
MAILS = (
    ("customers/mail-nordvik-2026-03-11.eml", "Ingrid Solberg <i.solberg@nordvik.invalid>", "imani@quaymark.invalid",
     "Surcharge on invoice 2026-0214", "Wed, 11 Mar 2026 10:12:00 +0000",
     "Dear Imani,\n\nwe have compared your invoices of January and February with our contract. The surcharge for fuel seems to be taken of the list "
     "price, not of ours. Until that is clear we keep the surcharge back.\n\nKind regards\nIngrid Solberg"),
    ("customers/mail-halden-2026-03-06.eml", "Quality <qa@halden.invalid>", "petra@quaymark.invalid",
     "Re: bulk cancellation", "Fri, 06 Mar 2026 15:40:00 +0000",
     "Dear Petra,\n\nour auditors want a signature for every cancelled order. Cancelling twenty of them at once, with one reason, does not go together "
     "with that. Please do not give it to anybody before we have talked, we would have to stop using Dispatch.\n\nHalden Pharma, Quality"),
    ("customers/mail-vanrijn-2026-02-20.eml", "Joris van Rijn <joris@vanrijn.invalid>", "support@quaymark.invalid",
     "1412 orders, 1000 arrived", "Fri, 20 Feb 2026 07:55:00 +0000",
     "Hi,\n\nwe sent 1412 orders for the weekend and your program took 1000. The rest is tulips. They do not wait.\n\nJoris"),
    ("customers/mail-pellworm-2026-03-14.eml", "Büro Pellworm <buero@pellworm.invalid>", "support@quaymark.invalid",
     "Doppelte Aufträge / double orders", "Sat, 14 Mar 2026 08:20:00 +0000",
     "Moin,\n\nwe see every order twice since Friday afternoon. The ferry takes only one of each.\n\nGrüße von der Insel"),
    ("data/mail-survey-provider-2025-09-30.eml", "Contracts <contracts@askwell.invalid>", "imani@quaymark.invalid",
     "End of contract", "Tue, 30 Sep 2025 16:00:00 +0000",
     "Dear Imani Clarke,\n\nwith today your contract for customer surveys ends. All answers up to the third quarter have been handed over as files.\n\nAskwell"),
    ("depot/mail-antwerp-2026-03-13.eml", "Depot Antwerp <antwerp@quaymark.invalid>", "bram@quaymark.invalid",
     "app", "Fri, 13 Mar 2026 14:02:00 +0000",
     "Bram,\n\nsince the new passwords six of us cannot log in. We drive with paper. Wim also tried a new phone, that worked.\n\nAntwerp"),
)  # fmt: skip
LOG = """2026-03-12T00:58:11Z INFO  plan round R-0312-04 vehicle QM-22 leaves 21:40 stops 5
2026-03-12T01:14:02Z INFO  plan round R-0312-07 vehicle QM-08 leaves 23:10 stops 4
2026-03-12T01:14:02Z ERROR round R-0312-07 failed
Traceback (most recent call last):
  File "routing/service.py", line 88, in handle
    return plan(depot, leaves, stops)
  File "routing/plan.py", line 17, in plan
    waiting = wait(read_window(stop["window"]), arrival)
  File "routing/windows.py", line 9, in read_window
    raise ValueError(f"window ends before it begins: {text!r}")
ValueError: window ends before it begins: '22:00-02:00'
2026-03-12T01:14:03Z WARN  restarted (1)
2026-03-12T02:02:40Z ERROR round R-0312-07 failed
ValueError: window ends before it begins: '22:00-02:00'
2026-03-12T02:02:41Z WARN  restarted (2)
2026-03-12T03:37:19Z ERROR round R-0312-09 failed
ValueError: window ends before it begins: '22:00-02:00'
2026-03-12T03:37:20Z WARN  restarted (3)
"""
SAMPLE = (
    ("delivery", "customer", "depot", "planned", "status", "pallets"),
    ("R26-0501", "Nordvik Foods", "Rotterdam", "2026-02-03", "delivered", 6),
    ("R26-0502", "Halden Pharma", "Rotterdam", "2026-02-03", "delivered", 2),
    ("A26-0301", "Brasserie Lemaire", "Antwerp", "2026-02-03", "delivered", 3),
    ("R26-0502", "Halden Pharma", "Rotterdam", "2026-02-03", "corrected", 3),
    ("R26-0503", "Oakridge Garden", "Rotterdam", "2026-02-05", "delivered", 11),
    ("R26-0504", "Van Rijn Flowers", "Rotterdam", "2026-02-06", "planned", 8),
    ("R26-0505", "Van Rijn Flowers", "Rotterdam", "2026-02-06", "delivered", 8),
    ("D26-0201", "Kaiser Ersatzteile", "Duisburg", "2026-02-09", "delivered", 14),
    ("R26-0504", "Van Rijn Flowers", "Rotterdam", "2026-02-06", "delivered", 7),
    ("R26-0506", "Nordvik Foods", "Rotterdam", "2026-02-10", "delivered", 5),
    ("R26-0507", "Nordvik Foods", "Rotterdam", "2026-02-10", "delivered", 9),
    ("R26-0506", "Nordvik Foods", "Rotterdam", "2026-02-10", "cancelled", 5),
    ("D26-0201", "Kaiser Ersatzteile", "Duisburg", "2026-02-09", "corrected", 12),
    ("D26-0202", "Kaiser Ersatzteile", "Duisburg", "2026-02-12", "delivered", 4),
    ("R26-0508", "Pellworm Dairy", "Rotterdam", "2026-02-13", "delivered", 4),
    ("R26-0508", "Pellworm Dairy", "Rotterdam", "2026-02-13", "corrected", 5),
    ("R26-0508", "Pellworm Dairy", "Rotterdam", "2026-02-13", "corrected", 4),
    ("A26-0302", "Brasserie Lemaire", "Antwerp", "2026-02-17", "delivered", 2),
    ("R26-0509", "Halden Pharma", "Rotterdam", "2026-02-18", "delivered", 2),
    ("A26-0303", "Nordvik Foods", "Antwerp", "2026-02-19", "delivered", 9),
    ("A26-0303", "Nordvik Foods", "Antwerp", "2026-02-19", "cancelled", 9),
    ("R26-0510", "Oakridge Garden", "Rotterdam", "2026-02-20", "delivered", 10),
    ("R26-0511", "Nordvik Foods", "Rotterdam", "2026-03-02", "delivered", 6),
    ("D26-0203", "Stadtbäckerei Ott", "Duisburg", "2026-02-27", "delivered", 4),
    ("D26-0203", "Stadtbäckerei Ott", "Duisburg", "2026-02-27", "planned", 4),
)
README_DATA = """deliveries-2026-02.xlsx   what the three depots sent, each in its own way
fuel-2026-02.csv          from the supplier of the fuel cards
exports/                  from Dispatch, one line per change of a delivery
surveys/                  answers of customers, by quarter
results/                  what we worked out: one file per figure and month
"""
