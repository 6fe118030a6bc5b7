//go:build race

package cli

const raceDetector = true // memory is several times that of the program
