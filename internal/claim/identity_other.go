//go:build !linux && !darwin

package claim

import "os"

func identityOf(*os.File) ID { return ID{} }
