// Package bulk decides about more documents than one machine can read in a night. Many processes
// extract features into shards. An engine that can group, such as sort or a database, says which keys
// stand in two documents: the marks. One process then decides about all documents in order, and looks
// for earlier holders of marked keys only. Its verdicts are those of one run over all inputs.
//
// A Bloom filter says "no" or "maybe"; marks say "no" or "yes, somewhere". A key without a mark stands
// in one document, so nothing is lost if it is neither stored nor looked up. docs/format.md,
// "Shards of features", has the files.
package bulk
