#include "textflag.h"

// The bytes of sixteen letters that make the low four, and the other three, of eight runs.
DATA low<>+0(SB)/8, $0x0403020103020100
DATA low<>+8(SB)/8, $0x0605040305040302
DATA low<>+16(SB)/8, $0x0807060507060504
DATA low<>+24(SB)/8, $0x0a09080709080706
GLOBL low<>(SB), RODATA|NOPTR, $32

DATA high<>+0(SB)/8, $0x8007060580060504
DATA high<>+8(SB)/8, $0x8009080780080706
DATA high<>+16(SB)/8, $0x800b0a09800a0908
DATA high<>+24(SB)/8, $0x800d0c0b800c0b0a
GLOBL high<>(SB), RODATA|NOPTR, $32

// The multipliers: mulLow, mulHigh, mulMix, mulKey.
DATA mul<>+0(SB)/4, $0x9E3779B1
DATA mul<>+4(SB)/4, $0x85EBCA77
DATA mul<>+8(SB)/4, $0xC2B2AE3D
DATA mul<>+12(SB)/4, $0x27D4EB2F
GLOBL mul<>(SB), RODATA|NOPTR, $16

// EIGHT hashes the runs at eight letters and shifts their bits into R9 from above.
#define EIGHT(at) \
	VBROADCASTI128 at(SI), Y0   \
	VPSHUFB  Y8, Y0, Y1         \
	VPSHUFB  Y9, Y0, Y2         \
	VPMULLD  Y10, Y1, Y1        \
	VPMULLD  Y11, Y2, Y2        \
	VPADDD   Y2, Y1, Y1         \
	VPSRLD   $15, Y1, Y2        \
	VPXOR    Y2, Y1, Y1         \
	VPMULLD  Y12, Y1, Y1        \
	VPSRLD   $16, Y1, Y2        \
	VPXOR    Y2, Y1, Y1         \
	VMOVDQU  Y1, (4*at)(DI)     \
	VPMINUD  Y13, Y1, Y2        \
	VPCMPEQD Y1, Y2, Y2         \
	VMOVMSKPS Y2, AX            \
	SHLL     $at, AX            \
	ORL      AX, R9

// func hashRunsAVX2(hashes, masks *uint32, letters *byte, blocks int, limit uint32)
TEXT ·hashRunsAVX2(SB), NOSPLIT, $0-36
	MOVQ hashes+0(FP), DI
	MOVQ masks+8(FP), DX
	MOVQ letters+16(FP), SI
	MOVQ blocks+24(FP), CX
	VMOVDQU low<>(SB), Y8
	VMOVDQU high<>(SB), Y9
	VPBROADCASTD mul<>+0(SB), Y10
	VPBROADCASTD mul<>+4(SB), Y11
	VPBROADCASTD mul<>+8(SB), Y12
	MOVL limit+32(FP), AX
	VMOVD AX, X13
	VPBROADCASTD X13, Y13

next:
	XORL R9, R9
	EIGHT(0)
	EIGHT(8)
	EIGHT(16)
	EIGHT(24)
	MOVL R9, (DX)
	ADDQ $4, DX
	ADDQ $32, SI
	ADDQ $128, DI
	DECQ CX
	JNZ  next
	VZEROUPPER
	RET

// KEYS ranks the key runs at eight hashes.
#define KEYS(at) \
	VPMULLD  (4*at)(SI), Y10, Y1     \
	VPADDD   (4*at+28)(SI), Y1, Y1   \
	VPMINUD  Y13, Y1, Y2             \
	VPCMPEQD Y1, Y2, Y2              \
	VMOVMSKPS Y2, AX                 \
	SHLL     $at, AX                 \
	ORL      AX, R9

// func markKeyRunsAVX2(masks, hashes *uint32, blocks int, limit uint32)
TEXT ·markKeyRunsAVX2(SB), NOSPLIT, $0-28
	MOVQ masks+0(FP), DX
	MOVQ hashes+8(FP), SI
	MOVQ blocks+16(FP), CX
	VPBROADCASTD mul<>+12(SB), Y10
	MOVL limit+24(FP), AX
	VMOVD AX, X13
	VPBROADCASTD X13, Y13

next:
	XORL R9, R9
	KEYS(0)
	KEYS(8)
	KEYS(16)
	KEYS(24)
	MOVL R9, (DX)
	ADDQ $4, DX
	ADDQ $128, SI
	DECQ CX
	JNZ  next
	VZEROUPPER
	RET
