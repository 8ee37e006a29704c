#!/usr/bin/env python3
"""Writes scores.json: sessions with outcomes, and their scores, records and rankings (API.md, 6.11).

Written from API.md alone. Each figure is computed twice: as doubles, which is what is written, and exactly, to find
mistakes in the order of the operations.
"""

import json
import math
import os
import random
from decimal import ROUND_HALF_UP, Decimal, localcontext
from fractions import Fraction

RANKS = {"bearish": -2, "cautious": -1, "neutral": 0, "constructive": 1, "bullish": 2}
BOUNDS = [0.0, 0.2, 0.4, 0.6, 0.8, 1.0]


def written(value):
    """A double, rounded to 12 decimals, half away from zero."""
    with localcontext() as context:
        context.prec = 1100
        return float(Decimal(value).quantize(Decimal("1e-12"), ROUND_HALF_UP)) + 0.0


def total(values):
    result = 0.0
    for value in sorted(values):
        result += value
    return result


def mean(values):
    return total(values) / len(values)


def same(double, exact):
    assert abs(Fraction(double) - exact) < Fraction(1, 10**13), (double, float(exact))
    return double


def outcome(value):
    return (1 + value / 2) / 2


def forecast(quote):
    return (1 + RANKS[quote["stance"]] / 2 * quote["confidence"]) / 2


def exact_forecast(quote):
    return (1 + Fraction(RANKS[quote["stance"]], 2) * Fraction(quote["confidence"])) / 2


def score(session):
    """The unrounded figures of a session; None where nobody has a known stance."""
    known = [quote for quote in session["quotes"] if quote["stance"] in RANKS]
    y, exact_y = outcome(session["value"]), (1 + Fraction(session["value"]) / 2) / 2
    if not known:
        return None
    m = mean([RANKS[quote["stance"]] / 2 * quote["confidence"] for quote in known])
    crowd = (1 + m) / 2
    exact_crowd = sum(map(exact_forecast, known)) / len(known)
    crowd_loss = same((crowd - y) ** 2, (exact_crowd - exact_y) ** 2)
    scores = []
    for quote in known:
        f = forecast(quote)
        loss = same((f - y) ** 2, (exact_forecast(quote) - exact_y) ** 2)
        scores.append({"memberId": quote["memberId"], "takeId": quote["takeId"], "rank": RANKS[quote["stance"]],
                       "forecast": f, "loss": loss, "skill": crowd_loss - loss})
    return {"crowd": crowd, "crowd_loss": crowd_loss, "neutral_loss": (0.5 - y) ** 2, "y": y, "value": session["value"],
            "scores": scores}


def answer_of_session(session):
    found, y = score(session), outcome(session["value"])
    scores = [{"memberId": row["memberId"], "takeId": row["takeId"], "forecast": written(row["forecast"]),
               "loss": written(row["loss"]), "skill": written(row["skill"])} for row in (found["scores"] if found else [])]
    return {
        "sessionId": session["id"], "value": session["value"],
        "crowd": {"forecast": written(found["crowd"]) if found else None, "loss": written(found["crowd_loss"]) if found else None},
        "neutral": {"forecast": 0.5, "loss": written((0.5 - y) ** 2)},
        "scores": sorted(scores, key=lambda row: (row["loss"], row["memberId"])),
    }


def interval(skills):
    if len(skills) < 2:
        return None, None
    center = mean(skills)
    deviation = math.sqrt(total([(skill - center) ** 2 for skill in skills]) / (len(skills) - 1))
    exact = [Fraction(skill) for skill in skills]
    exact_mean = sum(exact) / len(exact)
    variance = sum((skill - exact_mean) ** 2 for skill in exact) / (len(exact) - 1)
    assert abs(Fraction(deviation) ** 2 - variance) < Fraction(1, 10**13)
    margin = 1.96 * deviation / math.sqrt(len(skills))
    return written(center - margin), written(center + margin)


def figures(losses, skills):
    low, high = interval(skills)
    return {"scored": len(losses), "loss": written(mean(losses)) if losses else None,
            "skill": written(mean(skills)) if skills else None, "low": low, "high": high}


def selected(sessions, subject, since):
    for session in sessions:
        found = score(session)
        if found and (subject is None or session["subjectId"] == subject) and (since is None or session["date"] >= since):
            yield found


def record(sessions, member, subject):
    own = [(row, found) for found in selected(sessions, subject, None) for row in found["scores"] if row["memberId"] == member]
    decided = [row["rank"] * found["value"] > 0 for row, found in own if row["rank"] != 0 and found["value"] != 0]
    calibration = []
    for low, high in zip(BOUNDS, BOUNDS[1:]):
        rows = [(row["forecast"], found["y"]) for row, found in own
                if low <= written(row["forecast"]) and (written(row["forecast"]) < high or high == 1.0)]
        calibration.append({"from": low, "to": high, "n": len(rows),
                            "forecast": written(mean([f for f, _ in rows])) if rows else None,
                            "outcome": written(mean([y for _, y in rows])) if rows else None})
    return {"memberId": member, **figures([row["loss"] for row, _ in own], [row["skill"] for row, _ in own]),
            "right": {"n": sum(decided), "of": len(decided)}, "calibration": calibration}


def ranking(sessions, subject, since, least):
    found = list(selected(sessions, subject, since))
    own = {}
    for one in found:
        for row in one["scores"]:
            losses, skills = own.setdefault(row["memberId"], ([], []))
            losses.append(row["loss"])
            skills.append(row["skill"])
    rows = [{"memberId": member, **figures(*terms)} for member, terms in own.items()]
    ranked = sorted((row for row in rows if row["scored"] >= least), key=lambda row: (-row["low"], -row["skill"], row["memberId"]))
    places = []
    for position, row in enumerate(ranked, 1):
        tied = places and (places[-1]["low"], places[-1]["skill"]) == (row["low"], row["skill"])
        places.append({"place": places[-1]["place"] if tied else position, **row})
    unranked = sorted((row for row in rows if row["scored"] < least), key=lambda row: (-row["scored"], row["memberId"]))
    return {"min": least, "sessions": len(found),
            "crowd": {"loss": written(mean([one["crowd_loss"] for one in found])) if found else None},
            "neutral": {"loss": written(mean([one["neutral_loss"] for one in found])) if found else None},
            "ranking": places, "unranked": unranked}


def desk():
    """A year of a desk: some members often file, one seldom; two of them always file the same."""
    chance = random.Random(14)
    members = [f"member {number}" for number in range(12)] + ["zoë", "Ada"]
    sessions, take = [], 0
    for number in range(1, 91):
        quotes = []
        for index, member in enumerate(members):
            if chance.random() < 0.15 + index / 40:
                continue
            stance = chance.choice([*RANKS, *RANKS, "sideways"])
            confidence = chance.choice([0.0, 1.0, round(chance.random(), 2), round(chance.random(), 2), chance.random()])
            take += 1
            quotes.append({"takeId": take, "memberId": member, "stance": stance, "confidence": confidence})
        for twin in ("twin a", "twin b"):
            take += 1
            quotes.append({"takeId": take, "memberId": twin, "stance": "constructive", "confidence": 0.4})
        if number == 7:
            quotes = [dict(quote, stance="sideways") for quote in quotes]
        sessions.append({
            "id": number, "date": f"2026-{1 + number // 9:02}-{1 + number % 9:02}", "subjectId": chance.choice(["aurora", "borealis"]),
            "value": chance.choice([-2, -1, 0, 1, 2, 0.5, round(chance.uniform(-2, 2), 3), chance.uniform(-2, 2)]),
            "quotes": quotes,
        })
    return members + ["twin a", "twin b", "nobody"], sessions


def main():
    members, sessions = desk()
    rankings = [{"subject": subject, "since": since, "min": least, "answer": ranking(sessions, subject, since, least)}
                for subject in (None, "aurora", "elsewhere") for since in (None, "2026-06-05") for least in (2, 20, 45)]
    records = [{"subject": subject, "answer": record(sessions, member, subject)}
               for member in members for subject in (None, "borealis")]
    content = {"sessions": sessions, "scores": [answer_of_session(session) for session in sessions],
               "records": records, "rankings": rankings}
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "scores.json")
    with open(path, "w", encoding="utf-8") as file:
        for index, (key, rows) in enumerate(content.items()):
            lines = ",\n".join(json.dumps(row, ensure_ascii=False, separators=(",", ":")) for row in rows)
            file.write(("{" if index == 0 else ",") + f'"{key}":[\n{lines}\n]')
        file.write("}\n")


if __name__ == "__main__":
    main()
