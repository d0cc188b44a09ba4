"""Vapour pressure deficit (VPD) of greenhouse air, as GreenHub computes it.

The deficit is the difference between what the air could hold and what it holds. All pressures are in kilopascals,
temperatures in degrees Celsius, relative humidity in percent.
"""

import math
from dataclasses import dataclass

LOWER_LIMIT = 0.4
"""Below this deficit plants hardly transpire and grey mould threatens."""
UPPER_LIMIT = 1.2
"""Above this deficit stomata close."""
LEAF_OFFSET = 1.5
"""How much cooler than the air a well watered leaf is taken to be."""


@dataclass(frozen=True)
class Reading:
    """One reading of a TH-200 sensor."""

    temperature: float
    humidity: float


def saturation_pressure(temperature: float) -> float:
    """Return the pressure of saturated water vapour over water.

    The Magnus formula with the coefficients of Alduchov and Eskridge (1996): 0.61094, 17.625 and 243.04. The error is
    below 0.4 percent between -40 and 50 degrees.
    """
    return 0.61094 * math.exp(17.625 * temperature / (temperature + 243.04))


def vapour_pressure_deficit(reading: Reading, *, leaf_offset: float = LEAF_OFFSET) -> float:
    """Return the deficit between leaf and air; never negative.

    The leaf is taken to be `leaf_offset` degrees cooler than the air. With an offset of 0 this is the deficit of the
    air alone, which is what older reports of the station quote.
    """
    held = saturation_pressure(reading.temperature) * reading.humidity / 100
    return max(0.0, saturation_pressure(reading.temperature - leaf_offset) - held)


def advice(reading: Reading) -> str:
    """Return what to do about a reading: ``open vents``, ``start fog`` or ``leave``.

    Raises ValueError for a humidity outside 0 to 100 or a temperature that no greenhouse has.
    """
    if not 0 <= reading.humidity <= 100:
        raise ValueError(f"relative humidity {reading.humidity} is not between 0 and 100")
    if not -30 <= reading.temperature <= 60:
        raise ValueError(f"temperature {reading.temperature} is not between -30 and 60")
    deficit = vapour_pressure_deficit(reading)
    if deficit < LOWER_LIMIT:
        return "open vents"
    return "start fog" if deficit > UPPER_LIMIT else "leave"


class RunningMean:
    """The mean deficit over the last readings; GreenHub shows it over 15 readings, a quarter of an hour."""

    def __init__(self, size: int = 15) -> None:
        """Keep at most `size` readings."""
        self._size = size
        self._values: list[float] = []

    def add(self, reading: Reading) -> float:
        """Take a reading in and return the mean with it."""
        self._values = [*self._values[-self._size + 1 :], vapour_pressure_deficit(reading)]
        return sum(self._values) / len(self._values)
