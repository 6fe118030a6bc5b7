package follow

import (
	"context"
	"errors"
	"io"
	"net"
	"time"
)

// Reaching is the time in which brokers must answer at the start.
const Reaching = 30 * time.Second

// sayEvery is the time between two reports about brokers that do not answer at the start.
const sayEvery = time.Minute

// Await connects to a log like [Dial], and waits until a broker answers. It calls waiting with the
// reason to wait, at once and then each minute. For a new index it returns the settings of the log, or
// nil if that is empty.
func Await(ctx context.Context, brokers []string, topic, verdicts string, isNew bool, waiting func(error)) (*Topic, *Settings, error) {
	said := time.Time{}
	for {
		reach, cancel := context.WithTimeout(ctx, Reaching/3)
		t, err := Dial(reach, brokers, topic, verdicts)
		var settings *Settings
		if err == nil && isNew {
			if settings, err = First(reach, t); err != nil {
				t.Close()
			}
		}
		gone := err != nil && Unreached(reach, err)
		cancel()
		switch {
		case !gone || ctx.Err() != nil:
			return t, settings, err
		case time.Since(said) >= sayEvery:
			said = time.Now()
			waiting(err)
		}
		time.Sleep(time.Second)
	}
}

// Unreached reports whether err means that no broker answered before ctx ended.
func Unreached(ctx context.Context, err error) bool {
	var dial *net.OpError
	return errors.As(err, &dial) || errors.Is(err, io.EOF) || errors.Is(ctx.Err(), context.DeadlineExceeded)
}
