"""What a workspace may cost a day."""

from chassis.errors import ResourceExhausted


def cost_cap_reached() -> ResourceExhausted:
    """Says why something that has to be paid for was not asked."""
    return ResourceExhausted(
        "the daily cost cap of the workspace is reached", reason="DAILY_COST_CAP_REACHED"
    )
