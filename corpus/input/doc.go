// Package input lists the inputs of a run. [Expand] turns files, globs, folders and archives into
// inputs, a [Finder] finds one by its name, and [Input.Open] opens it.
package input
