package pipeline

// beside runs work beside the committing goroutine: one piece at a time, in the order of begin.
type beside struct {
	done chan error // nil if nothing is under way
	err  error      // the first
}

// begin runs f beside the caller, once the function begun before has ended without an error.
func (b *beside) begin(f func() error) error {
	if err := b.wait(); err != nil {
		return err
	}
	done := make(chan error, 1)
	b.done = done
	go func() { done <- f() }()
	return nil
}

// wait returns when nothing is under way any more, and the first error that there was.
func (b *beside) wait() error {
	if b.done != nil {
		b.err, b.done = <-b.done, nil
	}
	return b.err
}
