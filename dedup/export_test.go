package dedup

// Stack is for tests of the store that New makes of Config.Earlier and Table.
type Stack = stack

var NewStack = newStack

// ConfigOf returns the configuration that a Deduper works by, with the defaults filled in.
func ConfigOf(d *Deduper) Config { return d.cfg }

// ParseRecord is Record.Parse.
func ParseRecord(b []byte) (Record, error) {
	var r Record
	err := r.Parse(b)
	return r, err
}
