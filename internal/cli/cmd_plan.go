package cli

import (
	"errors"
	"fmt"
	"math"

	"github.com/spf13/cobra"

	"github.com/firstseen/firstseen/corpus"
	"github.com/firstseen/firstseen/corpus/input"
	"github.com/firstseen/firstseen/internal/base/amount"
	"github.com/firstseen/firstseen/internal/cli/flags"
	"github.com/firstseen/firstseen/internal/engine/pipeline/forecast"
	"github.com/firstseen/firstseen/internal/engine/server"
)

func newPlanCommand() *cobra.Command {
	var f planning
	cmd := command("plan", nil, func(cmd *cobra.Command, args []string) error {
		if err := f.foresee(args); err != nil {
			return usageError{err}
		}
		c, err := f.forecast(cmd)
		if err != nil {
			return err
		}
		return f.print(cmd, c, "plan", struct {
			*forecast.Forecast
			Jobs int
		}{c, f.jobs})
	})
	fs := cmd.Flags()
	fs.StringVar(&f.docs, "docs", "", "number of documents, such as 10M")
	fs.StringVar(&f.memory, "memory", "", "size of the filter, such as 1GiB (default: as large as the documents need)")
	flags.Seconds(fs, &f.window, "window", "plan for documents that count for this long, such as 48h or 2d")
	fs.Float64Var(&f.rate, "rate", 0, "with --window: documents kept per second")
	f.registerMethod(fs)
	f.registerPassages(fs)
	flags.Jobs(fs, &f.jobs, "processors to use for the sample")
	f.inputFlags.register(fs)
	f.printed.register(fs)
	return cmd
}

// planning is a run to forecast. Its shape is zero if the documents decide it. Its format is that
// of the inputs or, without any, of --format.
type planning struct {
	inputFlags
	indexFlags
	printed
	rate      float64 // documents a second
	jobs      int
	documents uint64 // 0 if the inputs decide it
}

func (p *planning) foresee(args []string) (err error) {
	p.args = args
	if p.documents, err = p.planned(); err != nil {
		return err
	}
	if p.documents == 0 && p.docs == "" && len(args) == 0 {
		return errors.New("plan: give the number of documents with --docs, or the inputs of the run")
	}
	if err := p.formats.complete(p.source); err != nil {
		return err
	}
	p.found, _ = p.formats.of()
	if p.docs != "" {
		if p.documents, err = amount.ParseCount(p.docs); err != nil {
			return fmt.Errorf("--docs: %w", err)
		}
	}
	if p.memory != "" {
		if p.shape, err = filterOf(p.memory, p.scheme.KeysPerDoc(false)); err != nil {
			return err
		}
	}
	return p.checkMethod("", false)
}

func (p *planning) forecast(cmd *cobra.Command) (_ *forecast.Forecast, err error) {
	var measured *forecast.Sample
	if len(p.args) > 0 {
		if measured, err = p.measure(cmd); err != nil {
			return nil, err
		}
		if p.documents == 0 {
			if p.documents, err = measured.Total(); err != nil {
				return nil, usageError{fmt.Errorf("plan: %w; add --docs", err)}
			}
		}
	}
	plan := forecast.Plan{Documents: p.documents, Window: p.window, Shape: p.shape, Scheme: p.scheme, Limits: p.source, Format: p.found}
	c := plan.Forecast(measured)
	if p.scheme.Passages == 0 { // a server finds none
		c.ServeBytes = c.MemoryBytes + uint64(new(server.Config).Memory())
	}
	return c, nil
}

func (p *planning) measure(cmd *cobra.Command) (*forecast.Sample, error) {
	if err := p.findInputs(cmd, p.args); err != nil {
		return nil, err
	}
	if err := p.formats.check(p.found, "", false); err != nil {
		return nil, err
	}
	useJobs(&p.jobs, cmd.ErrOrStderr())
	cfg := p.source
	cfg.BlockSize = forecast.BlockSize
	open := func(inputs []input.Input) *corpus.Source { return p.formats.source(inputs, cfg) }
	m, err := forecast.Measure(cmd.Context(), p.inputs, open, p.scheme, p.jobs)
	if errors.Is(err, forecast.ErrNone) {
		err = fmt.Errorf("plan: %w; are --text-field and the inputs right?", err)
	}
	return m, err
}

// planned returns the number of documents in the window to plan for, or 0 without one.
func (p *planning) planned() (uint64, error) {
	switch {
	case p.window == 0 && p.rate == 0:
		return 0, nil
	case p.window == 0:
		return 0, errors.New("plan --rate: give --window too, the time for which documents count, such as 48h")
	case p.docs != "":
		return 0, errors.New("plan --window: give --rate, the documents per second, instead of --docs: an index with a window holds only the documents of that time")
	case !(p.rate > 0):
		return 0, errors.New("plan --window: give --rate too, the documents kept per second")
	}
	n := math.Ceil(p.rate * float64(p.window))
	if n > math.MaxUint32 {
		return 0, fmt.Errorf("plan: %.0f documents in a window, and at most %d are possible: give a shorter --window", n, uint32(math.MaxUint32))
	}
	return uint64(n), nil
}
