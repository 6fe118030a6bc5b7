package sorted

import "fmt"

// Damage says what is wrong with a bin.
type Damage string

func (d Damage) Error() string { return string(d) }

func damagef(format string, args ...any) error { return Damage(fmt.Sprintf(format, args...)) }
