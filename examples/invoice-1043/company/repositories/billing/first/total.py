import csv
import sys

RENTAL, LESSONS = 21, 21
total = 0
for line in csv.DictReader(open(sys.argv[1])):
    if line["invoice"] == sys.argv[2]:
        net = int(line["quantity"]) * float(line["price"])
        total += round(net * (1 + RENTAL / 100), 2)
print(total)
