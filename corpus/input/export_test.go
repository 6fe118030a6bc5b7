package input

// SpoolSize is how many bytes were unpacked of the archive that an input is in.
func (in Input) SpoolSize() (int64, error) {
	info, err := in.Member.in.spool.Stat()
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}
