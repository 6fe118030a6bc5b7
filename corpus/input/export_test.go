package input

// SpoolSize returns the number of bytes unpacked from the archive that holds the input.
func (in Input) SpoolSize() (int64, error) {
	info, err := in.Member.in.spool.Stat()
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}
