"""What should be tried next?"""

from assay.search.descent import Descent
from assay.search.exhaustive import Exhaustive
from assay.search.sampling import Sampling
from assay.search.strategy import EXHAUSTIVE_LIMIT, STRATEGIES, Strategy, strategy_for

__all__ = ["EXHAUSTIVE_LIMIT", "STRATEGIES", "Descent", "Exhaustive", "Sampling", "Strategy", "strategy_for"]
