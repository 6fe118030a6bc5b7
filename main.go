// Command firstseen reports for each document of a stream whether it was seen before, and in which
// earlier document.
//
// See README.md, or run firstseen --help.
package main

import "github.com/firstseen/firstseen/internal/cli"

func main() { cli.Main() }
