package dedup

// ConfigOf returns the configuration that a Deduper works by, with the defaults filled in.
func ConfigOf(d *Deduper) Config { return d.cfg }
