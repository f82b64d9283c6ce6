"""Rule-based conversion (Xia and Palmer 2001; Xia et al. 2009): the baseline of PAD's Table 2."""
