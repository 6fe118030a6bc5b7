package cli

// The texts of the commands that take documents back, and that look at existing indexes.

const forgetLong = `Take documents back. They are named no more, and make no others duplicates; the same
text can come again, and is kept. What other kept documents share with them stays
theirs. It is durable when the command ends.

Every kept document of an ID is taken back. For each ID a line of JSON tells how many
these were: {"id":"...","forgotten":1}, or 0, which is no error. With --from the ids are
read from a file, one a line. --batch takes back what firstseen dedup --batch kept under
that name; firstseen cancel does so too, and lists what was removed for its sake.

What was removed earlier as a copy of a document that is forgotten stays removed, until
it is given once more. A sentence that eight kept documents had at one time stays
common, whoever of them is forgotten.

The space is given back by firstseen compact. An index without a side table forgets
nothing. While a run is under way the index is in use.

Exit codes:
  0    done
  1    failed; the message says why
  2    wrong usage
  130  interrupted; up to there it may be done, and the same command does the rest`

const batchesLong = `List the batches of an index: what firstseen dedup --batch NAME has kept under each
name, and how many of these documents were forgotten since. With --json each is a line:
{"batch":"...","documents":2,"live":1}.`

const cancelLong = `Take back all documents that firstseen dedup --batch NAME has kept, and the name.

First, one line of JSON is printed for every document of another batch, or of none, that
was removed for the sake of one that is cancelled: {"removed":ID,"batch":...,"of":ID}.
Feed these documents again: what is no copy of another kept one is then kept. The last
line is {"cancelled":NAME,"documents":N}; when it is there, all is durable. The list is
whole before anything is cancelled: whoever is stopped runs the same command again, and
where the batch is gone it was done.

Documents that a batch removed for the sake of its own are not listed: they are of the
crawl that is undone. Nor are those that were removed before the batch had a name.

Exit codes:
  0    done
  1    failed; the message says why
  2    wrong usage
  130  interrupted; the same command does it, or says that the batch is gone`

const dumpLong = `Print what an index holds, as lines of JSON, in an order that depends on nothing but
the documents.

--what documents: {"document":1,"id":...,"verdict":...,"time":...,"batch":...}, those that
were not forgotten. --what keys: {"key":"0123456789abcdef","documents":[1],"common":
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
