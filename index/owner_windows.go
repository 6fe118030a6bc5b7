package index

// lockedForAll: a locked file can be written by nobody but through the handle that has
// the lock.
const lockedForAll = true
