#include "textflag.h"

DATA feed<>+0(SB)/1, $0x0A
GLOBL feed<>(SB), RODATA|NOPTR, $1

// func feedsAVX2(masks *uint64, text *byte, blocks int) (high int)
//
// DI: the place of the next mask. SI: a block of 64 bytes. CX: the number of blocks. DX: the number
// of finished blocks. R8: the number of blocks up to the last with a non-ASCII byte.
TEXT ·feedsAVX2(SB), NOSPLIT, $0-32
	MOVQ masks+0(FP), DI
	MOVQ text+8(FP), SI
	MOVQ blocks+16(FP), CX
	XORL DX, DX
	XORL R8, R8
	VPBROADCASTB feed<>+0(SB), Y4

block:
	VMOVDQU   0(SI), Y0
	VMOVDQU   32(SI), Y1
	VPCMPEQB  Y0, Y4, Y2
	VPCMPEQB  Y1, Y4, Y3
	VPMOVMSKB Y2, AX
	VPMOVMSKB Y3, BX
	SHLQ $32, BX
	ORQ  BX, AX
	MOVQ AX, (DI)
	VPOR Y0, Y1, Y0
	VPMOVMSKB Y0, BX
	INCQ DX
	TESTL BX, BX
	CMOVQNE DX, R8
	ADDQ $64, SI
	ADDQ $8, DI
	CMPQ DX, CX
	JLT  block

	MOVQ R8, high+24(FP)
	VZEROUPPER
	RET
