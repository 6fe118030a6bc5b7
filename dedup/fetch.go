package dedup

import "fmt"

// The second step of a decision reads the stored records of the documents that matter. It decides
// nothing.

// fetch reads the records of the candidates that the method wants to compare.
func (c *decider) fetch(table asker) error {
	c.selected = c.judge.Select(c.selected[:0], &c.found)
	c.read.nums = c.read.nums[:0]
	for _, i := range c.selected {
		c.read.nums = append(c.read.nums, c.found.Candidates[i].Num)
	}
	return c.fetchSketches(table)
}

// fetchOne reads the record of one document.
func (c *decider) fetchOne(table asker, num uint32) error {
	c.read.nums = append(c.read.nums[:0], num)
	return c.fetchSketches(table)
}

// fetchSketches reads the records of c.read.nums and leaves the method's part of each in
// c.sketches.
func (c *decider) fetchSketches(table asker) error {
	c.sketches = c.sketches[:0]
	if len(c.read.nums) == 0 {
		return nil
	}
	if err := c.read.read(table); err != nil {
		return err
	}
	for at, data := range c.read.data {
		r, err := ParseRecord(data)
		if err != nil {
			return fmt.Errorf("document %d: %w", c.read.nums[at], err)
		}
		c.sketches = append(c.sketches, r.Sketch)
	}
	return nil
}

// nameSources asks the store for the ids of the documents in a result.
func (c *decider) nameSources(table asker, r *Result) error {
	c.read.nums = c.read.nums[:0]
	if r.Of.Num != 0 {
		c.read.nums = append(c.read.nums, r.Of.Num)
	}
	for i := range r.Also {
		c.read.nums = append(c.read.nums, r.Also[i].Num)
	}
	if len(c.read.nums) == 0 {
		return nil
	}
	if err := c.read.read(table); err != nil {
		return err
	}
	ids := c.read.ids
	if r.Of.Num != 0 {
		r.Of.ID, ids = string(ids[0]), ids[1:]
	}
	for i := range r.Also {
		r.Also[i].ID = string(ids[i])
	}
	return nil
}
