package cli

import (
	"cmp"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/firstseen/firstseen/corpus/input"
	"github.com/firstseen/firstseen/internal/pipeline"
)

// The texts of the commands: each command's description, and the messages about runs.

const exitCodeHelp = `Exit codes:
  0    done
  1    failed; the message says why
  2    wrong usage
  3    done, but some records were bad (see --rejects)
  4    stopped: the filter is full (--on-full stop)
  5    stopped: more bad records than --limit bad=N allows
  130  interrupted; with --index, the same command continues
  141  the reader of the output is gone`

const rootLong = `firstseen reads a stream of documents once and finds those seen before. For each of
these it names the earlier document.

It splits a text at punctuation and takes its 50 longest segments as features. A Bloom
filter remembers them, and a side table names the documents that have them. A sketch of
the whole text, in runs of five words, measures how much two documents have in common.

`

const dedupLong = `Read documents, and find those seen before: in this run or, with --index, in an earlier
one.

INPUT is a file, a glob, a directory, a tar or zip archive, ARCHIVE/MEMBER for one file
of it, or "-" for standard input. @FILE lists inputs, one a line. A directory or archive
stands for its *.jsonl, *.ndjson, *.json, *.parquet, *.warc, *.wet, *.wacz and *.arc,
also compressed as .gz, .zst, .bz2, .xz or .lz4, in the order of their names. One with
none of these stands for its *.csv and *.tsv.

A document is a duplicate, and removed, if it and an earlier kept one have at least 60%
(--threshold) of their text in common: of the runs of five words or characters in the
longer of the two. It is also a duplicate if 80% of it stands in an earlier one. --report
names the earlier document. A document that shares less, or quotes a long passage, can be
related: the report says so, and it is kept. A document assembled from several earlier
ones is a mosaic; it is kept, but with --method segments:mosaics=remove. Only kept
documents are remembered.

A score of 1 is a copy; 0.9 is one word changed in fifty; 0.6 is one in ten, or two
fifths written anew. As Jaccard similarities of runs, 0.67 is 0.5, 0.82 is 0.7 and 0.89
is 0.8. Texts of fewer than 24 words or characters are compared by whole segments, and so
is a text beside an earlier one more than twice as long: see the manual. --method
segments:score=segments counts nothing else. --filter-only measures the share of the text
that was seen before, in any documents.

With --index, the same command continues a run that was interrupted or killed, and its
outputs are those of an undisturbed run. If an earlier run left OUTPUT.partial, it is put
aside as OUTPUT.partial.1, or the next free number, and a message says so.

Formats (--format):
  auto           recognizes by content JSON lines and arrays, Parquet, web archives and
                 pages of HTML, and CSV by its name
  jsonl, array   lines of JSON, or arrays of objects; --text-field and --id-field
  csv            tables with a header, also separated by tabs
  parquet        rows
  warc, arc      records of web archives; settings: status=200,203 or 2xx or any (default
                 200), mime=text/html,text/plain or any, html as for html. Of warc also
                 revisit: a removed record whose payload equals its witness's becomes a
                 revisit record in --out, any other a metadata record, so that the output
                 can be replayed; near=keep keeps a removed record with another payload
  html           pages, a file each; html:main (the article, the default), html:visible
                 (all text on the screen) or html:off (as it is, with its tags)
  text           texts, a file each; lines and paragraphs have many in one file`

const dedupExample = `  # the kept lines, and why the others went
  firstseen dedup --out kept.jsonl --report dups.jsonl crawl/*.jsonl.gz

  # remember for the next run
  firstseen dedup --index seen/ --out new.jsonl.zst today.jsonl.zst

  # against other indexes, and the groups of copies
  firstseen dedup --against 2023/ --against 2024/ --out kept.jsonl --report dups.jsonl 2025/
  firstseen report clusters --out clusters.csv dups.jsonl

  # a fixed 1 GiB of memory and no side table, from a pipe
  crawl | firstseen dedup --filter-only --memory 1GiB --out - -`

const serveLong = `Answer many crawlers from one index, in one order: of two equal texts that come at the
same instant exactly one is kept, and the answer to the other names it.

POST /v1/see takes lines of JSON, one object, an array, or a text with ?id=, and answers
with a line for each document, in order. An answer leaves when its document is on the
disk: a kill of the server forgets no answered document. docs/manual.md has all requests.

SIGTERM ends the server in good order. Until then other commands refuse the index.`

const serveExample = `  firstseen serve --index seen/ --listen unix:/run/firstseen.sock
  curl --unix-socket /run/firstseen.sock --data-binary @pages.jsonl http://localhost/v1/see

  firstseen serve --index seen/ --lines unix:lines.sock
  nc -U lines.sock < pages.jsonl`

const queryLong = `Look up documents in an index: seen before or not, and in which earlier document.

INPUT is as for firstseen dedup; without one, documents are read from standard input.
With --text each INPUT is one document of plain text.

A line of JSON is printed for every document, also for unique ones, as in a report of
firstseen dedup. Nothing is remembered: any number of queries read the index at once.
During a run they see its last checkpoint. On Windows, and without a side table, the index
is in use during a run. An index without a side table names no earlier document.

With --id each INPUT is the id of a document. A line of JSON shows every kept document of
this id.`

const readLong = `Print every document of the inputs as firstseen dedup sees it, one line of JSON each:
its id, its text, the file, the place in the file, and its time if the input has one.

Bad records are named on standard error, with file, place and reason. INPUT and the flags
are those of firstseen dedup.`

const exportLong = `Write the filter of an index for other programs, in the format of
github.com/bits-and-blooms/bloom/v3. It answers there as here, for keys added as their 8
little-endian bytes. FILE "-" is standard output.

Without a side table, the filter includes the keys of the journals. Beside a table, the
filter must be of its present state. The format has no checksums and no scheme; the scheme
of the keys is printed on standard error. Keys compare only with keys of the same secret,
or of none: see index create --no-key.`

const planLong = `Forecast a run: its memory, disk, time, and the errors of the filter.

Give the number of documents with --docs, or the inputs of the run, or both. Up to 64 MiB
of the inputs are read, the beginning of each. The number of documents is estimated from
their sizes. The sample is run on a temporary index, to measure the speed of this machine.

Every document counts as unique: duplicates add nothing to filter and table. Memory and
disk are upper bounds, for documents like those of the sample.`

const checkLong = `Read all of an index and find damage.

Checked are every checksum, the order of the entries, the document that each entry names,
the counts, and that every key of the side table is in the filter. Without a table, the
journals of the filter are checked. Nothing is written, and no key file is needed, so a
copy taken during a run can be checked. During a run the last checkpoint of the side table
is checked.

A missing or old filter is reported, and is no damage: the next run makes it anew.
--rebuild makes it now, also if it is damaged, from a sound table. The old filter is
replaced in one step.

Exit codes:
  0    sound, or made so by --rebuild
  1    damaged, or it could not be read; the output or the message says why
  2    wrong usage
  130  interrupted; nothing was changed`

const compareLong = `Show two texts side by side, with every score of their similarity, and explain by the
rules of docs/design.md why the later one is a copy of the earlier one, or not.

Give two files, each one plain text, the earlier one first; or a line of a report and the
inputs of its run. The verdict is for the two documents alone. In a run it can differ: a
segment of eight documents is no evidence there, and a third document can be the better
witness.

Marks show the parts in one text alone, the parts in both but elsewhere, and shared
segments: colours on a terminal, else brackets. Edit distance and longest common
subsequence are not measured if two long texts differ too much ("-", null).`

// Parts that messages share.
const (
	putFileBack = "put the file back, or leave the run unfinished with firstseen index abandon DIR"
	staysKnown  = "what it has kept so far stays known"
)

// refusal adds the remedy to an error about an unfinished run not continued.
func refusal(err error) error {
	var r *pipeline.RefusedError
	if !errors.As(err, &r) {
		return err
	}
	over := strings.Join(r.Run.Args, " ")
	switch r.Why {
	case pipeline.OtherVersion:
		return errors.New("a run of another version of firstseen was interrupted on this index: finish it with that version, " +
			"or leave it with firstseen index abandon DIR; " + staysKnown)
	case pipeline.OverPipe:
		return fmt.Errorf("a run over %s was interrupted on this index after %d documents, and cannot be continued because it read or wrote a pipe; "+
			"the documents it kept stay known, so what it wrote (files ending in %s) is the only copy; firstseen index abandon DIR puts them aside",
			over, r.Run.Progress.Tally.Documents, input.PartialSuffix)
	case pipeline.OtherCommand:
		return fmt.Errorf("a run over %s was interrupted on this index, and this command has %s: run the same command again (inputs unchanged) "+
			"to finish it, or leave it with firstseen index abandon DIR; %s", over, otherChoices(r.Other), staysKnown)
	case pipeline.InputChanged:
		return inputChanged(r.Err)
	}
	return fmt.Errorf("%w; %s; a later run with the same output may have put it aside (%s.1)", err, putFileBack, input.PartialSuffix)
}

// choiceWords name the choices in which a command may differ from the one it would continue, except
// for those that are named as their flag is.
var choiceWords = map[pipeline.Choice]string{
	pipeline.ChosenInputs: "other inputs", pipeline.ChosenInputState: "inputs of another size or time",
	pipeline.ChosenOutputs: "another --out, --out-dir, --report or --rejects", pipeline.ChosenPipe: "a pipe",
	"annotate": "--annotate otherwise", "rules": "another --threshold, --method or --verify",
	"format": "another --format, --text-field or --id-field", "max_record": "another --limit record", "replace": "another --same-id",
	"against": "another --against, or other documents in it", "others": "another --keep", "spans": "--spans otherwise",
	"window": "another window or --time-field",
}

func otherChoices(choices []pipeline.Choice) string {
	var words []string
	for _, c := range choices {
		words = append(words, cmp.Or(choiceWords[c], "another --"+string(c)))
	}
	return strings.Join(words, " and ")
}

// inputChanged adds the remedy to an error about an input that has changed since the run was
// interrupted.
func inputChanged(err error) error {
	return fmt.Errorf("continuing the interrupted run: %w; put back what it read and run the same command again, or leave the run unfinished with firstseen index abandon DIR", err)
}

// missing describes the index's gaps in knowledge about a killed run over a pipe.
func missing(u *pipeline.Unfinished) string {
	documents := u.Progress.Tally.Documents
	if u.Progress.Ended {
		return fmt.Sprintf("the last run over a pipe was killed at its end; its %d documents are all remembered", documents)
	}
	return fmt.Sprintf("the last run over a pipe did not end in order: it is remembered up to document %d (checkpoint of %s); "+
		"what came later will be kept again", documents, time.Unix(u.Saved, 0).UTC().Format(time.RFC3339))
}

// givenUp describes the fate of a run left unfinished for good.
func givenUp(u *pipeline.Unfinished) string {
	return fmt.Sprintf("the interrupted run over %s is given up; what it kept up to its last checkpoint, %d documents, stays known",
		strings.Join(u.Args, " "), u.Progress.Tally.Kept)
}
