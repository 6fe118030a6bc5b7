package cli

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/firstseen/firstseen/corpus/input"
	"github.com/firstseen/firstseen/internal/engine/pipeline"
)

// staysKnown ends messages about unfinished runs.
const staysKnown = "what it has kept so far stays known"

// refusal adds the remedy to an error about an unfinished run that was not continued.
func refusal(err error) error {
	var r *pipeline.RefusedError
	if !errors.As(err, &r) {
		return err
	}
	over := strings.Join(r.Run.Args, " ")
	var other []string
	for _, c := range r.Other {
		other = append(other, cmp.Or(choiceWords[c], "another --"+string(c)))
	}
	switch r.Why {
	case pipeline.OtherVersion:
		return errors.New("a run of another version of firstseen was interrupted on this index: finish it with that version, " +
			"or give it up with firstseen index abandon DIR; " + staysKnown)
	case pipeline.OverPipe:
		return fmt.Errorf("a run over %s was interrupted on this index after %d documents, and cannot be continued because it read or wrote a pipe; "+
			"the documents it kept stay known, so what it wrote (files ending in %s) is the only copy; firstseen index abandon DIR puts them aside",
			over, r.Run.Progress.Tally.Documents, input.PartialSuffix)
	case pipeline.OtherCommand:
		return fmt.Errorf("a run over %s was interrupted on this index, and this command has %s: run the same command again (inputs unchanged) "+
			"to finish it, or give it up with firstseen index abandon DIR; %s", over, strings.Join(other, " and "), staysKnown)
	case pipeline.OnlyCopy:
		return fmt.Errorf("%w was written by an interrupted run over a pipe, and holds the only copy of the records it kept: name another output, or move it away", r.Err)
	case pipeline.InputChanged:
		return inputChanged(r.Err)
	}
	return fmt.Errorf("%w; put the file back, or leave the run unfinished with firstseen index abandon DIR; a later run with the same output may have put it aside (%s.1)", err, input.PartialSuffix)
}

// choiceWords names the choices that can differ from those of the run to continue. Choices named
// like their flags are left out.
var choiceWords = map[pipeline.Choice]string{
	pipeline.ChosenInputs: "other inputs", pipeline.ChosenInputState: "inputs of another size or time",
	pipeline.ChosenOutputs: "another --out, --out-dir, --report or --rejects", pipeline.ChosenPipe: "a pipe",
	"annotate": "a different --annotate", "rules": "another --threshold, --method or --verify",
	"format": "another --format, --text-field or --id-field", "max_record": "another --limit record", "replace": "another --same-id",
	"against": "another --against, or other documents in it", "spans": "a different --spans",
	"window": "another window or --format auto:time=FIELD",
}

// inputChanged adds the remedy to an error about an input changed since a run was interrupted.
func inputChanged(err error) error {
	return fmt.Errorf("continuing the interrupted run: %w; put the earlier input back and run the same command again, or leave the run unfinished with firstseen index abandon DIR", err)
}

// missing describes the documents of a killed run over a pipe that the index lacks.
func missing(u *pipeline.Unfinished) string {
	documents := u.Progress.Tally.Documents
	if u.Progress.Ended {
		return fmt.Sprintf("the last run over a pipe was killed at its end; its %d documents are all remembered", documents)
	}
	return fmt.Sprintf("the last run over a pipe did not end properly: it is remembered up to document %d (checkpoint of %s); "+
		"later documents will be kept again", documents, timeText(u.Saved))
}

// tellBefore reports a finished run over the same inputs. If none is known, it returns the message
// for a run that keeps nothing, "" without an index.
func (f *dedupOptions) tellBefore(stderr io.Writer, ledger *pipeline.Ledger) (noneKept string, err error) {
	same, other, err := ledger.Before()
	known := ""
	if run := cmp.Or(same, other); run != nil {
		known = fmt.Sprintf(", as of the run over %s that ended %s and kept %d of %d documents", run.Over, timeText(run.Ended), run.Tally.Kept, run.Tally.Documents)
	}
	switch {
	case err != nil || f.dir == "":
		return "", err
	case same != nil:
		fmt.Fprintf(stderr, "firstseen: this index has these inputs%s; this run removes all that it still has of them; to decide again, give another --index or none\n", known)
		return "", nil
	}
	return "firstseen: no document was kept: the index had a copy of each before this run" + known, nil
}

// timeText writes a time in Unix seconds.
func timeText(seconds int64) string { return time.Unix(seconds, 0).UTC().Format(time.RFC3339) }
