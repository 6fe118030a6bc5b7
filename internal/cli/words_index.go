package cli

// The texts of the commands that take documents back, and that look at existing indexes.

const forgetLong = `Take documents back. They are named no more, and make no others duplicates; the same
text can come again, and is kept. The segments that they share with other kept documents
stay with those. All is durable when the command ends.

Every kept document of an ID is taken back. A line of JSON for each ID counts them:
{"id":"...","forgotten":1}, or 0, which is no error. --from reads ids from a file, one a
line.

--batch takes back all documents that firstseen dedup --batch NAME has kept, and the
name. First a line is printed for every document of another batch, or of none, that was
removed as a copy of one of these: {"removed":ID,"batch":...,"of":ID}. Feed these
documents again: a document that copies no other kept one is then kept. The last line is
{"cancelled":NAME,"documents":N}; when it is there, all is durable. The list is complete
before anything is taken back. After an interruption run the same command again; if the
batch is gone by then, it was done.

Documents that a batch removed as copies of its own are not listed, nor those removed
before the batch had a name. Documents removed earlier as copies of a forgotten one stay
removed until they are given once more. A sentence that eight kept documents had at one
time stays common, even if some of them are forgotten.

firstseen index compact gives the space back. An index without a side table forgets
nothing. While a run is under way the index is in use.

Exit codes:
  0    done
  1    failed; the message says why
  2    wrong usage
  130  interrupted; the same command does the rest`

const batchesLong = `List the batches of an index: the name given by firstseen dedup --batch NAME, the number
of documents kept under it, and how many of these were forgotten since. With --json each
is a line: {"batch":"...","documents":2,"live":1}.`

const dumpLong = `Print the contents of an index as lines of JSON. Their order depends on the documents
alone.

--what documents: {"document":1,"id":...,"verdict":...,"time":...,"batch":...}, without
the forgotten ones. --what keys: {"key":"0123456789abcdef","documents":[1],"common":
false}, a line for each fingerprint that is stored, with the first eight documents that
hold it.
--what runs: the sorted runs of the side table. --what batches: the batches.`

const compactLong = `Drop from an index what only forgotten documents had, merge all runs of its side table
into one, and give the space back to the disk. Then the filter is made anew, of its size.

The new table takes the place of the old one in one step, and so does the filter: a
process that is stopped or killed has left the index as it was before one of them, and
the same command begins again. The table needs room for a second one meanwhile.

Answers stay the same, but that a sentence which was common is new again when all eight
documents that made it so are forgotten.

Exit codes:
  0    done
  1    failed; the message says why
  2    wrong usage
  130  interrupted; the index is as it was`

const indexLong = `Make an index, look at it, and change it.

An index is a folder that remembers documents: a side table, and a filter derived from
it. firstseen dedup --index DIR adds to it, and makes one with the defaults if there is
none. firstseen query asks it.`

const createLong = `Make an empty index, with properties that all its runs share: method, window and key.
firstseen dedup --index DIR takes them from there. Method and key cannot be changed later.
The filter grows when it is full, unless dedup has --on-full.

Fingerprints are keyed with a random secret, which is stored in the index. Without a
secret (--no-key) the fingerprints of two indexes compare, but an author of the input
can choose texts so that another document is removed.`

const abandonLong = `Leave the interrupted run of an index unfinished, so that another command can run on it.
The documents that the run has kept up to its last checkpoint stay known. Its outputs,
named *.partial, are cut back to that checkpoint; they are the only copy of the records
in them. To finish the run instead, give the same command again.`

const reportLong = `Show a report of firstseen dedup, and make other files of it.`

const pairsLong = `Write each document of a report with the document that it repeats, as lines of JSON or,
by the ending of the output, as a table (.csv, .tsv): id, of, verdict, score, contained,
exact. The report is read once, so it can be a pipe.`

const attributesLong = `Write a tree of attributes as dolma has them: for each input a file, and in it a line for
each record. The report must have been written with --spans, over the same inputs, given
in the same order and with the same flags about their format.`

const keptLong = `List the files that a run kept, one name a line, if each input is one document, such as a
page or a text. The list fits rsync --files-from and xargs. Give the inputs of the run
in the same order and with the same flags about their format.`
