package index

// lockedForAll: a locked file can be written only through the handle with the lock.
const lockedForAll = true
