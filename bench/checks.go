package main

import (
	"errors"
	"fmt"
	"io"
)

// check is a promise and whether it was kept.
type check struct {
	What string `json:"what"`
	Got  string `json:"got"`
	OK   bool   `json:"ok"`
}

// checks collects the checks of a measurement.
type checks struct {
	Checks []check `json:"checks"`
}

func (c *checks) expect(ok bool, what, format string, got ...any) {
	c.Checks = append(c.Checks, check{what, fmt.Sprintf(format, got...), ok})
}

// failed returns the failed checks as an error.
func (c *checks) failed() error {
	var errs []error
	for _, c := range c.Checks {
		if !c.OK {
			errs = append(errs, fmt.Errorf("%s: %s", c.What, c.Got))
		}
	}
	return errors.Join(errs...)
}

func (c *checks) write(w io.Writer) {
	for _, c := range c.Checks {
		mark := "ok  "
		if !c.OK {
			mark = "FAIL"
		}
		fmt.Fprintf(w, "%s %s: %s\n", mark, c.What, c.Got)
	}
}
