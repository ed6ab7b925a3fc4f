"""Why a campaign does not run, and what to change: pure rules over what `observe` has read."""
