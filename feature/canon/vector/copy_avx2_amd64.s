#include "textflag.h"

// Offsets in Classes.
#define CLASS   0
#define GENERAL 128 // characters that begin with E2 80
#define CJK     192 // characters that begin with E3 80
#define FULL    256 // characters that begin with EF BC

// Offsets in shuffles.
#define PACKED  0
#define SPACED  2048

// Each byte eight times: a space, an apostrophe, a Letter, 7F, bounds of bytes outside ASCII.
DATA eights<>+0(SB)/8, $0x2020202020202020
DATA eights<>+8(SB)/8, $0x2727272727272727
DATA eights<>+16(SB)/8, $0x0101010101010101
DATA eights<>+24(SB)/8, $0x7F7F7F7F7F7F7F7F
DATA eights<>+32(SB)/8, $0xC0C0C0C0C0C0C0C0
DATA eights<>+40(SB)/8, $0xE4E4E4E4E4E4E4E4
DATA eights<>+48(SB)/8, $0x0505050505050505
DATA eights<>+56(SB)/8, $0xB8B8B8B8B8B8B8B8
DATA eights<>+64(SB)/8, $0x8080808080808080
DATA eights<>+72(SB)/8, $0xE2E2E2E2E2E2E2E2
DATA eights<>+80(SB)/8, $0xE3E3E3E3E3E3E3E3
DATA eights<>+88(SB)/8, $0xBCBCBCBCBCBCBCBC
DATA eights<>+96(SB)/8, $0xEFEFEFEFEFEFEFEF
GLOBL eights<>(SB), RODATA|NOPTR, $104

#define EIGHT(i, register) VPBROADCASTQ eights<>+i(SB), register

// For each byte of a block, the byte of a mask with its bit, and that bit.
DATA spread<>+0(SB)/8, $0x0000000000000000
DATA spread<>+8(SB)/8, $0x0101010101010101
DATA spread<>+16(SB)/8, $0x0202020202020202
DATA spread<>+24(SB)/8, $0x0303030303030303
DATA spread<>+32(SB)/8, $0x0404040404040404
DATA spread<>+40(SB)/8, $0x0505050505050505
DATA spread<>+48(SB)/8, $0x0606060606060606
DATA spread<>+56(SB)/8, $0x0707070707070707
DATA spread<>+64(SB)/8, $0x8040201008040201
GLOBL spread<>(SB), RODATA|NOPTR, $72

// Y0, Y1: the block. Y4, Y5: its form. Its classes are masks on the stack. Any code may change the
// other vectors.
#define LETTER  letter-144(SP)
#define DIGIT   digit-152(SP)
#define BLANK   blank-160(SP)
#define SYMBOL  symbol-168(SP)
#define DOT     dot-176(SP)
#define COMMA   comma-184(SP)
#define QUOTE   quote-192(SP)

#define MASK(class, register) MOVQ class, register

#define JOINING(register) \
	MOVQ DOT, register   \
	ORQ  COMMA, register \
	ORQ  QUOTE, register \
	ORQ  SYMBOL, register

// MASKOF collects the highest bits of the bytes of two vectors. It changes AX.
#define MASKOF(low, high, register) \
	VPMOVMSKB low, register \
	VPMOVMSKB high, AX      \
	SHLQ      $32, AX       \
	ORQ       AX, register

// STORECLASS stores the mask of a class. The shift makes its bit the highest.
#define STORECLASS(shift, class) \
	VPSLLW shift, Y2, Y6 \
	VPSLLW shift, Y3, Y7 \
	MASKOF(Y6, Y7, CX)   \
	MOVQ   CX, class

// SPREAD sets all bits of the bytes selected by a mask.
#define SPREAD(register, low, high) \
	VMOVQ    register, X6              \
	VPBROADCASTQ X6, Y6                \
	VPBROADCASTQ spread<>+64(SB), Y7   \
	VPSHUFB  spread<>+0(SB), Y6, low   \
	VPSHUFB  spread<>+32(SB), Y6, high \
	VPAND    Y7, low, low              \
	VPAND    Y7, high, high            \
	VPCMPEQB Y7, low, low              \
	VPCMPEQB Y7, high, high

#define BLEND(low, high) \
	VPBLENDVB Y8, low, Y4, Y4 \
	VPBLENDVB Y9, high, Y5, Y5

#define EIGHTS(i) \
	EIGHT(i, Y10) \
	BLEND(Y10, Y10)

#define SPACES     EIGHTS(0)
#define APOSTROPHE EIGHTS(8)
#define BYTES      BLEND(Y0, Y1)
#define PUT(what, register) \
	SPREAD(register, Y8, Y9) \
	what

// ROW looks up bytes in a row of a table, by their low four bits.
#define ROW(at, bytes, result) \
	VBROADCASTI128 (at)(R10), result \
	VPSHUFB bytes, result, result

// ROWS looks up bytes in four rows, selected by their bits 4 and 5, the highest bits in Y6 and Y7. It
// changes Y14 and Y15.
#define ROWS(at, bytes, result) \
	ROW(at, bytes, result)            \
	ROW(at+16, bytes, Y14)            \
	VPBLENDVB Y6, Y14, result, result \
	ROW(at+32, bytes, Y14)            \
	ROW(at+48, bytes, Y15)            \
	VPBLENDVB Y6, Y15, Y14, Y14       \
	VPBLENDVB Y7, Y14, result, result

// CLASSOF finds the classes of bytes. Non-ASCII bytes have none.
#define CLASSOF(bytes, result) \
	VPSLLW $3, bytes, Y6       \
	VPSLLW $2, bytes, Y7       \
	ROWS(CLASS, bytes, result) \
	ROWS(CLASS+64, bytes, Y8)  \
	VPSLLW $1, bytes, Y6       \
	VPBLENDVB Y6, Y8, result, result

// FORMOF makes the form of bytes, except for spaces.
#define FORMOF(bytes, class, result) \
	VPAND  Y10, class, result \
	VPSLLW $5, result, result \
	VPOR   bytes, result, result

// WIDEOF works on the first bytes of characters, given also the bytes one and two later. It finds
// Han, from E4 B8 80 to E9 BF BF, and the classes of other characters. Y10 marks bytes that two
// continuations follow, and later the classes in question. Y8 and Y9 mark bytes before 80 and BC.
#define WIDEOF(bytes, next, after, han, class) \
	EIGHT(32, Y6)               \
	VPCMPGTB next, Y6, Y10      \
	VPCMPGTB after, Y6, Y6      \
	VPAND    Y6, Y10, Y10       \
	EIGHT(40, Y6)               \
	VPSUBB   Y6, bytes, Y7      \
	EIGHT(48, Y8)               \
	VPMINUB  Y7, Y8, Y8         \
	VPCMPEQB Y7, Y8, han        \
	VPAND    Y10, han, han      \
	VPCMPEQB Y6, bytes, Y6      \
	EIGHT(56, Y7)               \
	VPCMPGTB next, Y7, Y7       \
	VPAND    Y6, Y7, Y7         \
	VPANDN   han, Y7, han       \
	EIGHT(64, Y6)               \
	VPCMPEQB next, Y6, Y8       \
	VPAND    Y10, Y8, Y8        \
	EIGHT(88, Y6)               \
	VPCMPEQB next, Y6, Y9       \
	VPAND    Y10, Y9, Y9        \
	EIGHT(24, Y6)               \
	VPAND    Y6, after, after   \
	VPSLLW   $3, after, Y6      \
	VPSLLW   $2, after, Y7      \
	EIGHT(72, Y10)              \
	VPCMPEQB bytes, Y10, Y10    \
	VPAND    Y8, Y10, Y10       \
	ROWS(GENERAL, after, class) \
	VPAND    Y10, class, class  \
	EIGHT(80, Y10)              \
	VPCMPEQB bytes, Y10, Y10    \
	VPAND    Y8, Y10, Y10       \
	ROWS(CJK, after, Y8)        \
	VPAND    Y10, Y8, Y8        \
	VPOR     Y8, class, class   \
	EIGHT(96, Y10)              \
	VPCMPEQB bytes, Y10, Y10    \
	VPAND    Y9, Y10, Y10       \
	ROWS(FULL, after, Y8)       \
	VPAND    Y10, Y8, Y8        \
	VPOR     Y8, class, class

// PACK writes the bytes, of eight of the form at DX, selected by the lowest bits of BX.
#define PACK(at) \
	MOVBLZX BX, AX          \
	SHRQ    $8, BX          \
	VMOVQ   at(DX), X6      \
	VMOVQ   (R14)(AX*8), X7 \
	VPSHUFB X7, X6, X6      \
	VMOVQ   X6, (DI)        \
	POPCNTL AX, AX          \
	ADDQ    AX, DI

// func copyAVX2(c *Classes, dst, text *byte, size int, starts *Start) (read, written, starting, wide int, separated bool)
TEXT ·copyAVX2(SB), NOSPLIT, $304-73
	MOVQ c+0(FP), R10

#include "copy_amd64.h"

classify:
	// AX: the block and the two bytes after it: in the text or, at the end of the text, in a copy
	// padded with zeros.
	MOVQ SI, AX
	CMPQ R8, $66
	JGE  read
	VPXOR   Y6, Y6, Y6
	VMOVDQU Y6, tail-288(SP)
	VMOVDQU Y6, tail-256(SP)
	VMOVDQU Y6, tail-224(SP)
	MOVQ    DI, DX
	LEAQ    tail-288(SP), DI
	MOVQ    R8, CX
	REP; MOVSB
	MOVQ    AX, SI
	MOVQ    DX, DI
	LEAQ    tail-288(SP), AX

read:
	MOVQ     AX, from-296(SP)
	VMOVDQU  (AX), Y0
	VMOVDQU  32(AX), Y1
	CLASSOF(Y0, Y2)
	CLASSOF(Y1, Y3)
	EIGHT(16, Y10)
	FORMOF(Y0, Y2, Y4)
	FORMOF(Y1, Y3, Y5)
	STORECLASS($7, LETTER)
	STORECLASS($6, DIGIT)
	STORECLASS($5, BLANK)
	STORECLASS($4, SYMBOL)
	STORECLASS($3, DOT)
	STORECLASS($2, COMMA)
	STORECLASS($1, QUOTE)
	MASKOF(Y0, Y1, DX)
	JMP      classified

write:
	TESTQ   R12, R12
	JNZ     insert
	CMPQ    BX, $-1
	JNE     pack
	VMOVDQU Y4, (DI)
	VMOVDQU Y5, 32(DI)
	ADDQ    $64, DI
	JMP     next

pack:
	VMOVDQU Y4, tail-288(SP)
	VMOVDQU Y5, tail-256(SP)
	LEAQ    tail-288(SP), DX
	LEAQ    ·shuffles+PACKED(SB), R14
	PACK(0)
	PACK(8)
	PACK(16)
	PACK(24)
	PACK(32)
	PACK(40)
	PACK(48)
	PACK(56)
	JMP     next

insert:
	// Take four bytes at a time, followed by spaces to choose from.
	VMOVDQU Y4, tail-288(SP)
	VMOVDQU Y5, tail-256(SP)
	LEAQ    tail-288(SP), DX
	LEAQ    ·shuffles+SPACED(SB), R14
	EIGHT(0, Y8)
	MOVQ    $16, from-296(SP)

four:
	MOVL    R12, AX
	ANDL    $15, AX
	MOVL    BX, CX
	ANDL    $15, CX
	SHLL    $4, CX
	ORL     CX, AX
	VMOVD   (DX), X6
	VPUNPCKLDQ X8, X6, X6
	VMOVQ   (R14)(AX*8), X7
	VPSHUFB X7, X6, X6
	VMOVQ   X6, (DI)
	POPCNTL AX, AX
	ADDQ    AX, DI
	ADDQ    $4, DX
	SHRQ    $4, R12
	SHRQ    $4, BX
	DECQ    from-296(SP)
	JNZ     four
	JMP     next

wide:
	MOVQ    DX, other-72(SP)
	MOVQ    BX, ahead-80(SP)
	MOVQ    from-296(SP), DX
	VMOVDQU 1(DX), Y2
	VMOVDQU 2(DX), Y3
	WIDEOF(Y0, Y2, Y3, Y11, Y13)
	VPMOVMSKB Y11, BX
	VMOVDQU 33(DX), Y2
	VMOVDQU 34(DX), Y3
	WIDEOF(Y1, Y2, Y3, Y11, Y12)
	VPMOVMSKB Y11, AX
	SHLQ    $32, AX
	ORQ     AX, BX
	MASKOF(Y13, Y12, CX)
	VPSLLW  $5, Y13, Y6
	VPSLLW  $5, Y12, Y7
	MASKOF(Y6, Y7, DX)
	VPSLLW  $3, Y13, Y6
	VPSLLW  $3, Y12, Y7
	VPSLLW  $2, Y13, Y8
	VPSLLW  $2, Y12, Y9
	VPOR    Y8, Y6, Y6
	VPOR    Y9, Y7, Y7
	MASKOF(Y6, Y7, R11)
	VPSLLW  $1, Y13, Y6
	VPSLLW  $1, Y12, Y7
	MASKOF(Y6, Y7, R14)
	JMP     found
