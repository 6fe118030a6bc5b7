package server

import (
	"io"

	"github.com/VictoriaMetrics/metrics"

	"github.com/firstseen/firstseen/dedup"
)

// counters are what /metrics shows.
type counters struct {
	set                  *metrics.Set
	kept, removed, again *metrics.Counter
	saving               *metrics.Summary
}

func (c *counters) register(s *Service) {
	c.set = metrics.NewSet()
	c.kept = c.set.NewCounter(`firstseen_documents_total{kept="true"}`)
	c.removed = c.set.NewCounter(`firstseen_documents_total{kept="false"}`)
	c.again = c.set.NewCounter("firstseen_documents_again_total")
	c.saving = c.set.NewSummary("firstseen_checkpoint_seconds")
	c.set.NewGauge("firstseen_requests_waiting", func() float64 { return float64(len(s.queue)) })
}

func (c *counters) decided(r *dedup.Result) {
	switch {
	case r.Again:
		c.again.Inc()
	case r.Kept:
		c.kept.Inc()
	default:
		c.removed.Inc()
	}
}

func (c *counters) write(w io.Writer) {
	c.set.WritePrometheus(w)
	metrics.WriteProcessMetrics(w)
}
