package sorted

import "fmt"

// Damage describes a fault of a bin.
type Damage string

func (d Damage) Error() string { return string(d) }

func damagef(format string, args ...any) error { return Damage(fmt.Sprintf(format, args...)) }
