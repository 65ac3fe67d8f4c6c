"""A graph of a hospital with questions in the words of text-to-SQL data, for `made_graphs.py`.

Same-named properties, codes for words, and things that only join others.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence
from statistics import mean
from typing import Any

from made_things import Asked, Thing, day, most, names, turtle

_LABELS = {
    "departmentName": "name", "doctorName": "name", "wardName": "name", "treatmentName": "name",
    "departmentFloor": "floor", "wardFloor": "floor",
    "doctorGender": "gender", "patientGender": "gender",
    "firstName": "first name", "lastName": "last name", "dateOfBirth": "date of birth",
    "bloodType": "blood type", "hireDate": "hire date", "numberOfBeds": "number of beds",
    "memberOf": "member of department", "partOf": "part of department", "headedBy": "headed by",
    "admissionPatient": "admission of patient", "admittedTo": "admitted to ward",
    "admissionDate": "admission date", "dischargeDate": "discharge date",
    "attendingDoctor": "attending doctor",
    "procedureTreatment": "procedure of treatment", "procedurePatient": "performed on patient",
    "performedBy": "performed by doctor", "procedureDate": "procedure date", "isInsured": "insured",
    "treatmentPrice": "price", "amountCharged": "amount charged",
    "numberOfPublications": "number of publications",
    "Doctor": "doctor", "Procedure": "procedure",
}  # fmt: skip


def _things() -> dict[str, list[Thing]]:
    rng = random.Random(41)
    departments = [
        Thing("Department", n, {"departmentName": n, "departmentFloor": f, "budget": b})
        for n, f, b in (
            ("Cardiology", 2, 910000),
            ("Neurology", 3, 740000),
            ("Oncology", 3, 1250000),
            ("Pediatrics", 1, 480000),
            ("Dermatology", 4, 215000),
        )
    ]
    doctors = []
    for n, d, g, w, h, s, p in (
        ("Amira Haddad", 0, "F", 128000, "2008-03-17", "Cairo", 34),
        ("Bruno Keller", 0, "M", 117500, "2013-09-02", "Zurich", 12),
        ("Chen Wei", 1, "M", 109000, "2016-05-23", "Beijing", 51),
        ("Dana Novak", 1, "F", 134000, "2005-11-14", "Prague", 27),
        ("Elif Kaya", 2, "F", 121000, "2011-01-10", "Ankara", 40),
        ("Felix Braun", 2, "M", 98000, "2019-07-01", "Zurich", 3),
        ("Greta Olsen", 3, "F", 93500, "2018-02-19", "Oslo", 8),
        ("Hugo Marin", 2, "M", 141000, "2003-06-30", "Prague", 62),
        ("Iris Popescu", 3, "F", 88000, "2021-10-04", "Ankara", 1),
        ("Jonas Weber", None, "M", 79000, "2022-04-11", "Zurich", 0),
    ):
        values = {"doctorName": n, "doctorGender": g, "salary": w, "hireDate": h, "university": s}
        values |= {"numberOfPublications": p, "memberOf": None if d is None else departments[d]}
        doctors.append(Thing("Doctor", n, values))
    for n, d in ((0, 0), (1, 3), (2, 7), (3, 6)):
        departments[n].values["headedBy"] = doctors[d]
    wards = [
        Thing("Ward", n, {"wardName": n, "wardFloor": f, "numberOfBeds": b, "partOf": departments[d]})
        for n, f, b, d in (
            ("Ward A", 2, 24, 0),
            ("Ward B", 2, 18, 0),
            ("Ward C", 3, 30, 1),
            ("Ward D", 3, 12, 2),
            ("Ward E", 5, 36, 2),
            ("Ward F", 1, 20, 3),
            ("Ward G", 1, 8, 3),
        )
    ]
    patients = []
    first = (
        "Lena Marco Nadia Oskar Paula Quentin Rosa Stefan Tessa Umberto Vera Walter Xenia Yusuf Zoe Adam"
    ).split()
    last = (
        "Fischer Rossi Petrov Lind Gomez Dubois Costa Meyer Jansen "
        "Bianchi Novak Klein Ivanova Demir Brown Fischer"
    )
    for n, (f, s) in enumerate(zip(first, last.split(), strict=True)):
        values = {
            "firstName": f,
            "lastName": s,
            "patientGender": "F" if f in "Lena Nadia Paula Rosa Tessa Vera Xenia Zoe".split() else "M",
            "dateOfBirth": day(rng, 1940, 2015),
            "city": ("Graz", "Linz", "Wels", "Graz", "Steyr")[n * 3 % 5],
            "bloodType": ("A", "B", "0", "AB")[n * 7 % 4],
            "weight": rng.randrange(28, 110),
            "isInsured": "Y" if n % 4 else "N",
        }
        patients.append(Thing("Patient", f"{f} {s}", values))
    treatments = [
        Thing("Treatment", n, {"treatmentName": n, "treatmentPrice": p, "category": c})
        for n, p, c in (
            ("MRI Scan", 640, "imaging"),
            ("X-Ray", 85, "imaging"),
            ("Bypass", 18500, "surgery"),
            ("Biopsy", 410, "surgery"),
            ("Chemotherapy", 5200, "medication"),
            ("Infusion", 130, "medication"),
            ("Light Therapy", 95, "therapy"),
        )
    ]
    admissions, procedures = [], []
    for _ in range(34):
        start = day(rng, 2021, 2023)
        end = None if rng.random() < 0.2 else f"{start[:8]}{min(28, int(start[8:]) + rng.randrange(0, 9)):02}"
        values = {"admissionPatient": rng.choice(patients[:13]), "admittedTo": rng.choice(wards[:6])}
        values |= {"attendingDoctor": rng.choice(doctors[:8]), "admissionDate": start, "dischargeDate": end}
        values |= {"diagnosis": rng.choice(("asthma", "flu", "arrhythmia", "migraine", "fracture"))}
        admissions.append(Thing("Admission", "", {**values, "cost": rng.randrange(300, 9000, 50)}))
    for _ in range(40):
        what = rng.choice(treatments[:6])
        values = {"procedureTreatment": what, "procedurePatient": rng.choice(patients[:14])}
        values |= {"performedBy": rng.choice(doctors[:7]), "procedureDate": day(rng, 2021, 2023)}
        procedures.append(
            Thing("Procedure", "", {**values, "amountCharged": what.treatmentPrice + rng.randrange(0, 60, 5)})
        )
    return {
        "departments": departments, "doctors": doctors, "wards": wards, "patients": patients,
        "treatments": treatments, "admissions": admissions, "procedures": procedures,
    }  # fmt: skip


def full(patients: Any) -> list[tuple[str, str]]:
    """Return first and last names."""
    return [(p.firstName, p.lastName) for p in patients]


def wards() -> tuple[str, list[Asked]]:
    """Return the graph of a hospital, and questions."""
    all_ = _things()
    graph = turtle(
        "wards",
        [one for part in all_.values() for one in part],
        _LABELS,
        comments={
            "patientGender": "Gender of the patient: M or F.",
            "doctorGender": "Gender of the doctor: M or F.",
            "isInsured": "Whether the patient has an insurance: Y or N.",
            "dischargeDate": "When the patient left. Absent while the patient is still there.",
            "university": "City of the university where the doctor studied.",
        },
    )
    return graph, [*_about_staff(all_), *_about_patients(all_), *_about_events(all_)]


def _about_staff(all_: dict[str, list[Thing]]) -> list[Asked]:
    departments, doctors, rooms = all_["departments"], all_["doctors"], all_["wards"]
    of: dict[Thing, list[Thing]] = {d: [x for x in doctors if x.memberOf is d] for d in departments}
    within: dict[Thing, list[Thing]] = {d: [w for w in rooms if w.partOf is d] for d in departments}
    return [
        ("Show the name and salary of every doctor.", lambda: [(d.name, d.salary) for d in doctors]),
        (
            "What are the names and hire dates of the doctors, sorted by salary in descending order?",
            lambda: [(d.name, d.hireDate) for d in sorted(doctors, key=lambda d: -d.salary)],
        ),
        (
            "List the names of the doctors in alphabetical order.",
            lambda: sorted(d.name for d in doctors),
        ),
        ("How many female doctors are there?", lambda: sum(d.doctorGender == "F" for d in doctors)),
        (
            "What is the average, minimum and maximum salary of all doctors in Oncology?",
            lambda: [(mean(s), min(s), max(s)) for s in [[d.salary for d in of[departments[2]]]]],
        ),
        (
            "Which department has the most number of doctors, and how many?",
            lambda: [(d.name, len(of[d])) for d in most({d: len(x) for d, x in of.items()})],
        ),
        (
            "Find the number of doctors for each department, along with the department's name.",
            lambda: [(d.name, len(x)) for d, x in of.items() if x],
        ),
        (
            "What is the name and floor of the department with the largest budget?",
            lambda: [(d.name, d.departmentFloor) for d in most({d: d.budget for d in departments})],
        ),
        (
            "Find the names of the departments that do not have any wards.",
            lambda: names(d for d in departments if not within[d]),
        ),
        (
            "How many different universities did the doctors attend?",
            lambda: len({d.university for d in doctors}),
        ),
        (
            "What are the distinct universities of the doctors who earn more than 100000?",
            lambda: sorted({d.university for d in doctors if d.salary > 100000}),
        ),
        (
            "Which doctors earn between 90000 and 120000?",
            lambda: names(d for d in doctors if 90000 <= d.salary <= 120000),
        ),
        (
            "Show the names of doctors whose name contains the substring 'an'.",
            lambda: names(d for d in doctors if "an" in d.name.lower()),
        ),
        (
            "What is the name of the department headed by Hugo Marin?",
            lambda: ["Oncology"],
        ),
        (
            "For each department, what is the name of the doctor with the highest salary?",
            lambda: [(d.name, most({x: x.salary for x in s})[0].name) for d, s in of.items() if s],
        ),
        (
            "What is the total number of beds on each floor?",
            lambda: list(_sums((w.wardFloor, w.numberOfBeds) for w in rooms).items()),
        ),
        (
            "Show the name of each department and the total number of beds in its wards.",
            lambda: [(d.name, sum(w.numberOfBeds for w in s)) for d, s in within.items() if s],
        ),
        (
            "Which departments have a ward with more than 25 beds?",
            lambda: names(d for d, s in within.items() if any(w.numberOfBeds > 25 for w in s)),
        ),
        (
            "What is the average salary of male doctors and of female doctors?",
            lambda: [(g, mean(d.salary for d in doctors if d.doctorGender == g)) for g in ("M", "F")],
        ),
        (
            "List the name and the number of publications of the three doctors with the most publications.",
            lambda: [
                (d.name, d.numberOfPublications)
                for d in sorted(doctors, key=lambda d: -d.numberOfPublications)[:3]
            ],
        ),
        (
            "Which universities have at least two doctors?",
            lambda: [u for u, n in Counter(d.university for d in doctors).items() if n >= 2],
        ),
        (
            "What percentage of the doctors are women?",
            lambda: 100 * sum(d.doctorGender == "F" for d in doctors) / len(doctors),
        ),
        (
            "Which doctors do not belong to any department?",
            lambda: ["Jonas Weber"],
        ),
        (
            "On which floor is the department of Greta Olsen?",
            lambda: [1],
        ),
        (
            "Show the department name and the average salary of its doctors for "
            "departments with at least three doctors.",
            lambda: [(d.name, mean(x.salary for x in s)) for d, s in of.items() if len(s) >= 3],
        ),
    ]


def _sums(pairs: Any) -> dict[Any, float]:
    found: dict[Any, float] = {}
    for key, value in pairs:
        found[key] = found.get(key, 0) + value
    return found


def _about_patients(all_: dict[str, list[Thing]]) -> list[Asked]:
    patients, stays, done = all_["patients"], all_["admissions"], all_["procedures"]
    had: dict[Thing, list[Thing]] = {p: [a for a in stays if a.admissionPatient is p] for p in patients}
    return [
        (
            "What are the first and last names of the patients from Graz?",
            lambda: full(p for p in patients if p.city == "Graz"),
        ),
        (
            "How many male patients are insured?",
            lambda: sum(p.patientGender == "M" and p.isInsured == "Y" for p in patients),
        ),
        (
            "How many patients are not insured?",
            lambda: sum(p.isInsured == "N" for p in patients),
        ),
        (
            "Show the first name and date of birth of the youngest patient.",
            lambda: [(p.firstName, p.dateOfBirth) for p in [max(patients, key=lambda p: p.dateOfBirth)]],
        ),
        (
            "Return the cities together with the number of patients from each city.",
            lambda: list(Counter(p.city for p in patients).items()),
        ),
        (
            "Which city do most patients come from?",
            lambda: most(Counter(p.city for p in patients)),
        ),
        (
            "Find the first and last names of the patients who have never been admitted.",
            lambda: full(p for p in patients if not had[p]),
        ),
        (
            "List the first name, last name and blood type of all patients in Linz or Wels.",
            lambda: [(p.firstName, p.lastName, p.bloodType) for p in patients if p.city in ("Linz", "Wels")],
        ),
        (
            "How many patients have blood type AB?",
            lambda: sum(p.bloodType == "AB" for p in patients),
        ),
        (
            "What is the average weight of patients for each blood type?",
            lambda: [
                (b, mean(p.weight for p in patients if p.bloodType == b)) for b in ("A", "B", "0", "AB")
            ],
        ),
        (
            "What are the first names of patients who were admitted more than three times?",
            lambda: [p.firstName for p, s in had.items() if len(s) > 3],
        ),
        (
            "For each patient, show the last name and the number of admissions.",
            lambda: [(p.lastName, len(s)) for p, s in had.items() if s],
        ),
        (
            "Which patients were born before 1960?",
            lambda: names(p for p in patients if p.dateOfBirth < "1960"),
        ),
        (
            "Find the last names of patients whose first name starts with the letter T.",
            lambda: [p.lastName for p in patients if p.firstName.startswith("T")],
        ),
        (
            "Which patients had a procedure performed by Chen Wei?",
            lambda: names({x.procedurePatient for x in done if x.performedBy.name == "Chen Wei"}),
        ),
        (
            "Which patients have the same last name as Lena Fischer?",
            lambda: ["Adam Fischer"],
        ),
        (
            "Which female patients underwent a biopsy?",
            lambda: names(
                {
                    x.procedurePatient
                    for x in done
                    if x.procedureTreatment.name == "Biopsy" and x.procedurePatient.patientGender == "F"
                }
            ),
        ),
    ]


def _about_events(all_: dict[str, list[Thing]]) -> list[Asked]:
    stays, done, doctors, treatments = (
        all_["admissions"],
        all_["procedures"],
        all_["doctors"],
        all_["treatments"],
    )
    patients: Sequence[Thing] = all_["patients"]
    ward = lambda a: a.admittedTo  # noqa: E731
    return [
        (
            "How many admissions were there in each ward?",
            lambda: list(Counter(ward(a).name for a in stays).items()),
        ),
        (
            "What is the total cost of the admissions per department?",
            lambda: list(_sums((ward(a).partOf.name, a.cost) for a in stays).items()),
        ),
        (
            "Which diagnosis is the most common?",
            lambda: most(Counter(a.diagnosis for a in stays)),
        ),
        (
            "Show the name of each doctor and how many procedures they performed.",
            lambda: list(Counter(x.performedBy.name for x in done).items()),
        ),
        (
            "What are the names of treatments that were performed more than 7 times?",
            lambda: [t for t, n in Counter(x.procedureTreatment.name for x in done).items() if n > 7],
        ),
        (
            "Which treatments have never been performed?",
            lambda: names(t for t in treatments if not any(x.procedureTreatment is t for x in done)),
        ),
        (
            "What is the total amount charged for each treatment category?",
            lambda: list(_sums((x.procedureTreatment.category, x.amountCharged) for x in done).items()),
        ),
        (
            "What is the average price per category?",
            lambda: [
                (c, mean(t.treatmentPrice for t in treatments if t.category == c))
                for c in dict.fromkeys(t.category for t in treatments)
            ],
        ),
        (
            "How many admissions have no discharge date?",
            lambda: sum(a.dischargeDate is None for a in stays),
        ),
        (
            "How many patients did each doctor attend?",
            lambda: [
                (d.name, len({a.admissionPatient for a in stays if a.attendingDoctor is d}))
                for d in doctors
                if any(a.attendingDoctor is d for a in stays)
            ],
        ),
        (
            "Find the names of the doctors who performed both an MRI Scan and a Biopsy.",
            lambda: names(
                d
                for d in doctors
                if {"MRI Scan", "Biopsy"} <= {x.procedureTreatment.name for x in done if x.performedBy is d}
            ),
        ),
        (
            "How many procedures were done by doctors of the Cardiology department in 2022?",
            lambda: sum(
                x.procedureDate[:4] == "2022" and x.performedBy.memberOf.name == "Cardiology" for x in done
            ),
        ),
        (
            "What is the average length of stay in days?",
            lambda: mean(
                int(a.dischargeDate[8:]) - int(a.admissionDate[8:]) for a in stays if a.dischargeDate
            ),
        ),
        (
            "Which ward had the highest total cost of admissions?",
            lambda: names(most(_sums((ward(a), a.cost) for a in stays))),
        ),
        (
            "What is the most expensive treatment in the category surgery?",
            lambda: ["Bypass"],
        ),
        (
            "Which diagnoses were made in Ward A but not in Ward C?",
            lambda: sorted(
                {a.diagnosis for a in stays if ward(a).name == "Ward A"}
                - {a.diagnosis for a in stays if ward(a).name == "Ward C"}
            ),
        ),
        (
            "Return the number of admissions per year.",
            lambda: list(Counter(int(a.admissionDate[:4]) for a in stays).items()),
        ),
        (
            "Show the first name of the patient and the name of the treatment "
            "for all procedures performed by Elif Kaya.",
            lambda: sorted(
                {
                    (x.procedurePatient.firstName, x.procedureTreatment.name)
                    for x in done
                    if x.performedBy.name == "Elif Kaya"
                }
            ),
        ),
        (
            "Who are the patients admitted to a ward of the Pediatrics department with a migraine?",
            lambda: names(
                {
                    a.admissionPatient
                    for a in stays
                    if ward(a).partOf.name == "Pediatrics" and a.diagnosis == "migraine"
                }
            ),
        ),
        (
            "How many patients had a procedure but were never admitted?",
            lambda: sum(
                any(x.procedurePatient is p for x in done) and not any(a.admissionPatient is p for a in stays)
                for p in patients
            ),
        ),
        ("Which nurse works in Ward A?", lambda: None),
        ("What is the phone number of Amira Haddad?", lambda: None),
        ("How many operating rooms does Oncology have?", lambda: None),
        ("Which patients are allergic to penicillin?", lambda: None),
    ]
