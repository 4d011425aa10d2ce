"""Slices: whatever still identifies makes a file 0; the constant pixels of a filler earn nothing."""

from worksample.kit import Case, Check, Grade, average, dicom, weighted
from worksample.kit.grader_errors import DeliverableError

ABSENT = ("PatientName", "InstitutionName", "StationName", "OtherPatientIDs", "PatientComments", "RequestingPhysician",
          "ReferringPhysicianName", "AccessionNumber", "0009,*")  # fmt: skip


def grade(case: Case) -> Grade:
    def slices() -> Check:
        found = []
        for name in case.references("*.dcm"):
            # The slice as given is an answer that must earn nothing.
            given, want = [case.input(name)], case.reference(name)
            try:
                found.append(dicom(case.output(name), want, absent=ABSENT, bands={0.5: 1}, trivial=given))
            except DeliverableError as error:
                found.append(Check(0.0, str(error)))
        return average(found)

    return weighted(case, slices=slices)
