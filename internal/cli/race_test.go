//go:build race

package cli

const raceDetector = true // takes several times the program's memory
