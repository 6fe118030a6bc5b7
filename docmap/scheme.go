package docmap

// Scheme returns the name of the scheme that the table's keys are made with.
func (t *Table) Scheme() string { return t.head.scheme }
