package cli

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/firstseen/firstseen/corpus"
	"github.com/firstseen/firstseen/pipeline"
)

// The texts of the commands: each command's description, and the messages about runs.

const exitCodeHelp = `Exit codes:
  0    done
  1    failed; the message says why
  2    wrong usage
  3    done, but some records were bad (see --rejects)
  4    stopped: the filter is full (--on-full stop)
  5    stopped: more bad records than --max-bad allows
  130  interrupted; with --index, the same command continues
  141  the reader of the output is gone`

const rootLong = `firstseen reads a stream of documents once and tells for each whether it was
seen before, and in which earlier document.

It splits a text at punctuation, takes its 50 longest segments as its features,
asks a Bloom filter whether they were seen, and a side table by whom. Sketches of
the whole texts, in runs of five words, say how much the two have in common.

`

const dedupLong = `Read documents, lines of JSON or records of web archives, and tell for each whether
it was seen before, in this run or, with --index, in an earlier one.

INPUT is a file, a glob, a directory (its *.jsonl, *.ndjson, *.json, *.parquet, *.warc,
*.wet, *.wacz and *.arc, also .gz, .zst, .bz2, .xz and .lz4, are read in order of their
names; one with none of these stands for its *.csv and *.tsv), a tar or zip archive, which
is read as the directory in it, also where it is in a directory, ARCHIVE/MEMBER for one
file of it, or "-" for standard input. Format and compression are recognised by content:
JSON lines and arrays, Parquet, web archives, single pages of HTML, and CSV by its name;
--format overrides.

A document is a duplicate, and removed, when it and an earlier kept one have at
least 60% (--threshold) of their text in common, counted in runs of five words or
characters of the longer of the two, or when 80% of it stands in an earlier one.
--report names that document for each. One that shares less, or quotes a long
passage, may be related: that is told, and it is kept. A document assembled from
several earlier ones is a mosaic; it is kept unless --mosaics remove. Only kept
documents are remembered.

On the scale of --threshold, 1 is a copy; 0.9 is one word changed in fifty; 0.6 is
one in ten, or two fifths written anew. The same as a Jaccard similarity of runs:
0.67 is 0.5, 0.82 is 0.7, 0.89 is 0.8. In texts of fewer than 24 words or characters,
and beside an earlier one more than twice as long, whole segments are counted: see
the manual. --score segments counts nothing else, each as one, and --filter-only
asks what share of the text was seen before, wherever.

Of web archives --revisit writes revisit records to --out for removed records that
have the payload of an earlier one, so that the output can be replayed.

With --index, a run that was interrupted or killed is continued by the same
command, and its outputs are those of a run that was not. What an earlier run
has left in OUTPUT.partial is never written over: it is put aside as
OUTPUT.partial.1, or the next free number, and that is said.`

const dedupExample = `  # the kept lines, and why the others went
  firstseen dedup --out kept.jsonl --report dups.jsonl crawl/*.jsonl.gz

  # remember for the next run
  firstseen dedup --index seen/ --out new.jsonl.zst today.jsonl.zst

  # against what other indexes know, and which documents belong together
  firstseen dedup --against 2023/ --against 2024/ --out kept.jsonl --report dups.jsonl --clusters clusters.csv 2025/

  # a fixed 1 GiB of memory and no side table, from a pipe
  crawl | firstseen dedup --filter-only --memory 1GiB --out - -`

const queryLong = `Tell for each document whether the index has seen it, and in which earlier one.

INPUT is what it is for firstseen dedup; without one, documents are read from
standard input. With --text each INPUT is one document of plain text.

For every document one line of JSON is printed, as in a report of firstseen
dedup, also for those that are unique. Nothing is remembered: the index is only
read, by any number of queries at once. While a run is under way they see its last
checkpoint (not on Windows, nor without a side table: there the index is in use).
An index without a side table names no earlier document.

With --id each INPUT is the id of a document, and one line of JSON tells what is
stored of every kept document of this id.`

const textsLong = `Print every document of the inputs as firstseen dedup sees it, one line of JSON each:
its id, its text, the file and the place in it, and its time where the input tells.

What is no document but a bad record is told on standard error, with file, place
and reason. INPUT and the flags are those of firstseen dedup.`

const filterLong = `Hand the filter of an index to other programs and indexes, and take theirs.

The form is that of github.com/bits-and-blooms/bloom/v3: a filter that is exported
answers there as here, for keys added as their 8 little-endian bytes. Filters of
equal size can be joined: what any of them has seen, the joined one has.

Only fingerprints of the same secret, or of none, mean the same in two indexes: make
them with dedup --no-key, and give all the same size.`

const exportLong = `Write the filter of an index as github.com/bits-and-blooms/bloom/v3 does. FILE "-" is
standard output. Without a side table, what the journals hold is part of it; beside
one, the filter must be of its present state. Scheme and checksums are not part of
the form: the scheme that made the keys is told on standard error.`

const importLong = `Add filters that filter export has written to an index without a side table, or make
an index of them: what they have seen, it has seen. They must have the size of the
index's filter, and keys made by its scheme, which the form does not tell. An index
with a key file is refused without --same-key, which says that they were made with it.

Several filters that were filled on different machines are joined by importing all.`

const planLong = `Tell what a run will take: memory, disk, time, and how often the filter errs.

Give the number of documents with --docs, or the inputs of the run, or both. Of
inputs up to 64 MiB are read, the beginning of each; the number of documents
is estimated from their sizes, and the pipeline is run over the sample on a
temporary index, for the time that it takes on this machine.

Every document is taken for a unique one: duplicates add nothing to filter and
table. Memory is told at most; disk is at most what so many documents take that
are as those of the sample.`

const checkLong = `Read all of an index and tell whether it is sound.

Checked are every checksum, the order of the entries, that each names a document
that is there, that counts agree, and that every key of the side table is in the
filter or, without one, that the journals of the filter are whole. Nothing is
written, and no key file is needed, so a copy can be checked that was taken while
a run was under way. Beside a run the last checkpoint of the side table is checked.

A filter that is missing or of an earlier state is told, and is no damage: the
next run makes it anew. --rebuild does that now, also where the filter is damaged,
from a table that is sound; the old filter is replaced in one step.

Exit codes:
  0    sound, or made so by --rebuild
  1    damaged, or it could not be read; the output or the message says why
  2    wrong usage
  130  interrupted; nothing was changed`

const explainLong = `Explain shows two texts side by side and says how alike they are, by every score
there is, and why the later one is taken for a copy of the earlier one, or not, in
terms of the rules of docs/design.md.

Give two files, each one plain text, the earlier one first; or a line of a report and
the inputs of its run. The verdict is that of the two documents alone. In a run it can
be another: there segments that eight documents have are no evidence, and a third
document may be the better witness.

What stands in one text alone, in both but elsewhere, and in shared segments is marked,
on a terminal by colours and else by brackets. Edit distance and longest common
subsequence are not measured where two long texts differ too much ("-", null).`

const evalLong = `Eval has each method judge documents whose copies are known, at several thresholds,
and tells how well it did. The documents are held in memory; nothing is written but
the table, or --json, and the page of --page.

  precision, recall, F1   of pairs of documents that are taken for copies of each
                          other: those joined by removals, each with its witness
  ARI                     adjusted Rand index of the two clusterings
  left                    of the pairs that are alike, those of which both stay
  false, grey             removals whose text is not, or not quite, the witness's:
                          Jaccard below 0.3 and containment below 0.5; lcs and the
                          share that stands in the witness below 0.8
  documents/s             on one processor, all in memory
  bytes                   remembered of a kept document

Pairs with a column lcs, 2·LCS/(n+m) over words, are alike from 0.8 on and unlike below
0.5; others are by their label: 1, dup, duplicate, copy, true, yes or positive, and 0,
non, none, unlike, false, no, negative or hardneg... Of a pair that is not listed
nothing is known, unless --complete says so. A star marks the defaults. The methods
imatch and simhash weigh terms by these documents themselves.`

// Parts that messages share.
const (
	putFileBack = "put the file back, or add --abandon to leave the run unfinished"
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
			"or add --abandon to leave it; " + staysKnown)
	case pipeline.OverPipe:
		return fmt.Errorf("a run over %s was interrupted on this index after %d documents, and cannot be continued because it read or wrote a pipe; "+
			"the documents it kept stay known, so what it wrote (files ending in %s) is the only copy; add --abandon to go on, which puts them aside",
			over, r.Run.Documents, corpus.PartialSuffix)
	case pipeline.OtherCommand:
		return fmt.Errorf("a run over %s was interrupted on this index, and this command has %s: run the same command again (inputs unchanged) "+
			"to finish it, or add --abandon to leave it; %s", over, otherChoices(r.Other), staysKnown)
	case pipeline.InputChanged:
		return inputChanged(r.Err)
	}
	return fmt.Errorf("%w; %s; a later run with the same output may have put it aside (%s.1)", err, putFileBack, corpus.PartialSuffix)
}

// choiceWords name the choices in which a command may differ from the one it would continue.
var choiceWords = map[pipeline.Choice]string{
	pipeline.ChosenInputs: "other inputs", pipeline.ChosenInputState: "inputs of another size or time",
	pipeline.ChosenOutputs: "another --out, --out-dir, --report or --rejects", pipeline.ChosenPipe: "a pipe",
	pipeline.ChosenAnnotate: "--annotate otherwise", pipeline.ChosenRules: "another --threshold, --score, --mosaics or --confirm",
	pipeline.ChosenFormat: "another --format, --text-field, --id-field, --status or --mime", pipeline.ChosenMaxRecord: "another --max-record",
	pipeline.ChosenBatch: "another --batch", pipeline.ChosenSameID: "another --same-id",
	pipeline.ChosenAgainst: "another --against, or other documents in it",
	pipeline.ChosenOthers:  "another --keep", pipeline.ChosenSpans: "--spans or --attributes otherwise",
	pipeline.ChosenWindow: "another --window or --time-field",
}

func otherChoices(choices []pipeline.Choice) string {
	var words []string
	for _, c := range choices {
		words = append(words, choiceWords[c])
	}
	return strings.Join(words, " and ")
}

// inputChanged adds the remedy to an error about an input that has changed since the run was
// interrupted.
func inputChanged(err error) error {
	return fmt.Errorf("continuing the interrupted run: %w; put back what it read and run the same command again, or add --abandon to leave the run unfinished", err)
}

// missing describes the index's gaps in knowledge about a killed run over a pipe.
func missing(u *pipeline.Unfinished) string {
	if u.Decided {
		return fmt.Sprintf("the last run over a pipe was killed at its end; its %d documents are all remembered", u.Documents)
	}
	return fmt.Sprintf("the last run over a pipe did not end in order: it is remembered up to document %d (checkpoint of %s); "+
		"what came later will be kept again", u.Documents, u.Saved.UTC().Format(time.RFC3339))
}

// givenUp describes the fate of a run left unfinished for good.
func givenUp(u *pipeline.Unfinished) string {
	return fmt.Sprintf("the interrupted run over %s is given up; what it kept up to its last checkpoint, %d documents, stays known",
		strings.Join(u.Args, " "), u.Kept)
}
