#include "textflag.h"

#include "decode_amd64.h"

// Bytes: 0F, the differences from E0 and F0 to 80, the highest bit.
DATA constants<>+0(SB)/8, $0x8070600F
// Bytes: a backslash, a quote, the first byte after the control characters.
DATA constants<>+8(SB)/8, $0x20225C
GLOBL constants<>(SB), RODATA|NOPTR, $16

// func decodeAVX512(dst, src *byte, n int, escapes *[128]byte) (read, written int)
//
// SI: a block of 64 bytes. R8: the bytes left. DI: the output. R10, R11: the starts of SI and DI.
TEXT ·decodeAVX512(SB), NOSPLIT, $0-48
	MOVQ dst+0(FP), DI
	MOVQ src+8(FP), SI
	MOVQ n+16(FP), R8
	MOVQ escapes+24(FP), AX
	MOVQ SI, R10
	MOVQ DI, R11
	VMOVDQU64 0(AX), Z16
	VMOVDQU64 64(AX), Z17
	VBROADCASTI32X4 utf8<>+0(SB), Z18
	VBROADCASTI32X4 utf8<>+16(SB), Z19
	VBROADCASTI32X4 utf8<>+32(SB), Z20
	VPBROADCASTB constants<>+0(SB), Z21
	VPBROADCASTB constants<>+1(SB), Z22
	VPBROADCASTB constants<>+2(SB), Z23
	VPBROADCASTB constants<>+3(SB), Z24
	VPBROADCASTB constants<>+8(SB), Z25
	VPBROADCASTB constants<>+9(SB), Z26
	VPBROADCASTB constants<>+10(SB), Z27
	MOVQ $0xAAAAAAAAAAAAAAAA, R9
	JMP  more

block:
	VMOVDQU64 (SI), Z0
	VPCMPEQB  Z25, Z0, K1     // backslashes
	VPCMPEQB  Z26, Z0, K2     // quotes
	VPCMPUB   $1, Z27, Z0, K3 // control characters
	VPMOVB2M  Z0, K4          // non-ASCII bytes
	KORTESTQ  K4, K4
	JNZ       valid
	CMPB      -1(SI), $0 // a character may have begun before the block
	JLT       valid

validated:
	KORQ     K2, K3, K5
	KORQ     K1, K5, K5
	KORTESTQ K5, K5
	JNZ      special
	VMOVDQU64 Z0, (DI)
	ADDQ $64, SI
	ADDQ $64, DI
	SUBQ $64, R8

more:
	CMPQ R8, $64
	JGE  block

return:
	VZEROUPPER
	SUBQ R10, SI
	SUBQ R11, DI
	MOVQ SI, read+32(FP)
	MOVQ DI, written+40(FP)
	RET

valid:
	// For each byte: the bytes one, two and three before it.
	VMOVDQU64 -1(SI), Z1
	VMOVDQU64 -2(SI), Z2
	VMOVDQU64 -3(SI), Z3
	VPSRLW    $4, Z1, Z4
	VPANDQ    Z21, Z4, Z4
	VPSHUFB   Z4, Z18, Z4
	VPANDQ    Z21, Z1, Z1
	VPSHUFB   Z1, Z19, Z1
	VPSRLW    $4, Z0, Z5
	VPANDQ    Z21, Z5, Z5
	VPSHUFB   Z5, Z20, Z5
	VPANDQ    Z4, Z1, Z1
	VPANDQ    Z5, Z1, Z1
	VPSUBUSB  Z22, Z2, Z2 // the highest bit if a third byte must be here
	VPSUBUSB  Z23, Z3, Z3 // or a fourth byte
	VPORQ     Z3, Z2, Z2
	VPANDQ    Z24, Z2, Z2
	VPXORQ    Z2, Z1, Z1
	VPTESTMB  Z1, Z1, K5
	KORTESTQ  K5, K5
	JNZ       return
	JMP       validated

special:
	KMOVQ K1, BX
	KMOVQ K2, CX
	KMOVQ K3, DX
	TESTQ BX, BX
	JZ    ends

	// R13: backslashes that begin an escape. R14: escaped bytes. In a row of backslashes, every
	// other one is escaped (the method of simdjson).
	LEAQ  (BX)(BX*1), R13
	ORQ   R9, R13
	SUBQ  BX, R13
	XORQ  R9, R13
	MOVQ  R13, R14
	XORQ  BX, R14
	ANDQ  BX, R13
	VMOVDQA64 Z0, Z1
	VPERMI2B  Z17, Z16, Z1
	KMOVQ     R14, K5
	VPTESTNMB Z1, Z1, K5, K6
	KANDQ     K4, K5, K7
	KORQ      K6, K7, K6
	VMOVDQU8  Z1, K5, Z0

	// AX: the place to stop: the closing quote, a control character, or an escape that is not short
	// or continues after the block.
	KMOVQ  K6, AX
	SHRQ   $1, AX
	ANDNQ  CX, R14, CX
	ORQ    CX, AX
	ORQ    DX, AX
	MOVQ   R13, CX
	SHRQ   $63, CX
	SHLQ   $63, CX
	ORQ    CX, AX
	TZCNTQ AX, AX
	NOTQ   R13
	BZHIQ  AX, R13, R13
	KMOVQ  R13, K1
	VPCOMPRESSB.Z Z0, K1, Z1
	VMOVDQU64 Z1, (DI)
	POPCNTQ R13, R13
	ADDQ   R13, DI
	ADDQ   AX, SI
	SUBQ   AX, R8
	CMPQ   AX, $64
	JEQ    more
	JMP    return

ends:
	ORQ    CX, DX
	TZCNTQ DX, DX
	VMOVDQU64 Z0, (DI)
	ADDQ   DX, SI
	ADDQ   DX, DI
	JMP    return
