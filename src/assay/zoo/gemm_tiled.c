/* c = a @ b for contiguous row-major arrays, by packed panels and a register tile.
 *
 * a: (M, K), b: (K, N), c: (M, N), all of ASSAY_T. Any M, N, K, zeros included.
 *
 * The tile is MR rows by NV vectors. A block of `a` (ROWS x KC) is packed so that the tile reads it as one stream:
 * rows a power of two apart would otherwise share the few lines of one cache set. `b` is packed the same way
 * (PACK=1), or read where it lies (PACK=0), which saves a copy that few rows cannot pay back. The columns past the
 * last whole tile are always packed, padded with zeros, so that no element outside `b` is read.
 *
 * Each KC products are summed from zero and then added to `c`. The order of the sums is a function of the sizes and
 * the setting alone: the same call gives the same bits. Short sums are also what keeps the error of a long K small.
 */
#include <stdint.h>
#include <string.h>

#if defined(__AVX512F__)
#define VECTOR_BYTES 64
#elif defined(__AVX__)
#define VECTOR_BYTES 32
#else
#define VECTOR_BYTES 16
#endif

typedef ASSAY_T vector __attribute__((vector_size(VECTOR_BYTES)));

enum {
    LANES = VECTOR_BYTES / sizeof(ASSAY_T),
    NR = NV * LANES,
    ROWS = 96,                /* rows of `a` packed at a time: with KC a block that a second-level cache holds */
    COLUMNS = 1024 / NR * NR, /* columns of `b` packed at a time; the workspace's formula repeats the 1024 */
    LINE = 64,
};

_Static_assert(ROWS % MR == 0, "a packed block holds whole tiles");

static inline vector load(const ASSAY_T *from) {
    vector v;
    memcpy(&v, from, sizeof v);
    return v;
}

static inline void store(ASSAY_T *to, vector v) { memcpy(to, &v, sizeof v); }

static inline int64_t lesser(int64_t x, int64_t y) { return x < y ? x : y; }

/* One tile of c from `depth` packed columns of a and rows of b; `fresh`: c is written, not added to. */
static void tile(int64_t depth, const ASSAY_T *restrict a, const ASSAY_T *restrict b, int64_t b_stride,
                 ASSAY_T *restrict c, int64_t c_stride, int fresh) {
    vector sums[MR][NV];
#pragma GCC unroll 16
    for (int i = 0; i < MR; i++)
#pragma GCC unroll 4
        for (int j = 0; j < NV; j++) sums[i][j] = (vector){0};

    for (int64_t p = 0; p < depth; p++) {
        vector row[NV];
#pragma GCC unroll 4
        for (int j = 0; j < NV; j++) row[j] = load(b + j * LANES);
#pragma GCC unroll 16
        for (int i = 0; i < MR; i++)
#pragma GCC unroll 4
            for (int j = 0; j < NV; j++) sums[i][j] += a[i] * row[j];
        a += MR;
        b += b_stride;
    }

#pragma GCC unroll 16
    for (int i = 0; i < MR; i++)
#pragma GCC unroll 4
        for (int j = 0; j < NV; j++) {
            ASSAY_T *at = c + i * c_stride + j * LANES;
            store(at, fresh ? sums[i][j] : load(at) + sums[i][j]);
        }
}

/* A tile that hangs over the edge of c: computed beside it, then the part inside is copied. */
static void edge(int64_t rows, int64_t columns, int64_t depth, const ASSAY_T *a, const ASSAY_T *b, int64_t b_stride,
                 ASSAY_T *c, int64_t c_stride, int fresh) {
    ASSAY_T beside[MR * NR];
    tile(depth, a, b, b_stride, beside, NR, 1);
    for (int64_t i = 0; i < rows; i++)
        for (int64_t j = 0; j < columns; j++)
            c[i * c_stride + j] = fresh ? beside[i * NR + j] : c[i * c_stride + j] + beside[i * NR + j];
}

/* rows x depth of a, as panels of MR rows; missing rows are zeros. */
static void pack_a(int64_t rows, int64_t depth, const ASSAY_T *restrict a, int64_t stride, ASSAY_T *restrict to) {
    for (int64_t i0 = 0; i0 < rows; i0 += MR, to += MR * depth)
        for (int64_t i = 0; i < MR; i++)
            if (i0 + i < rows)
                for (int64_t p = 0; p < depth; p++) to[p * MR + i] = a[(i0 + i) * stride + p];
            else
                for (int64_t p = 0; p < depth; p++) to[p * MR + i] = 0;
}

/* One panel of b: depth rows of NR columns; missing columns are zeros. */
static void pack_b(int64_t columns, int64_t depth, const ASSAY_T *restrict b, int64_t stride, ASSAY_T *restrict to) {
    for (int64_t p = 0; p < depth; p++, b += stride, to += NR)
        if (columns >= NR) {
            memcpy(to, b, NR * sizeof *to);
        } else {
            for (int64_t j = 0; j < NR; j++) to[j] = j < columns ? b[j] : 0;
        }
}

/* rows x columns of c from one packed block of a and one block of b. */
static void block(int64_t rows, int64_t columns, int64_t depth, const ASSAY_T *a, const ASSAY_T *b, int64_t b_stride,
                  const ASSAY_T *packed, ASSAY_T *c, int64_t c_stride, int fresh) {
    for (int64_t j = 0; j < columns; j += NR) {
        const int64_t wide = lesser(NR, columns - j);
        const int in_place = !PACK && wide == NR;
        const ASSAY_T *panel = in_place ? b + j : packed + (PACK ? j * depth : 0);
        const int64_t stride = in_place ? b_stride : NR;
        for (int64_t i = 0; i < rows; i += MR) {
            const int64_t high = lesser(MR, rows - i);
            ASSAY_T *corner = c + i * c_stride + j;
            if (high == MR && wide == NR)
                tile(depth, a + i * depth, panel, stride, corner, c_stride, fresh);
            else
                edge(high, wide, depth, a + i * depth, panel, stride, corner, c_stride, fresh);
        }
    }
}

void gemm(const ASSAY_T *restrict a, const ASSAY_T *restrict b, ASSAY_T *restrict c, int64_t M, int64_t N, int64_t K,
          void *workspace) {
    ASSAY_T *block_a = (ASSAY_T *)(((uintptr_t)workspace + LINE - 1) / LINE * LINE);
    ASSAY_T *block_b = block_a + ROWS * KC;

    if (K == 0) memset(c, 0, (size_t)(M * N) * sizeof *c);

    for (int64_t j = 0; j < N; j += COLUMNS) {
        const int64_t columns = lesser(COLUMNS, N - j);
        for (int64_t p = 0; p < K; p += KC) {
            const int64_t depth = lesser(KC, K - p);
            const ASSAY_T *from = b + p * N + j;
            const int64_t whole = columns / NR * NR;
            if (PACK)
                for (int64_t q = 0; q < columns; q += NR) pack_b(columns - q, depth, from + q, N, block_b + q * depth);
            else if (whole < columns)
                pack_b(columns - whole, depth, from + whole, N, block_b);
            for (int64_t i = 0; i < M; i += ROWS) {
                const int64_t rows = lesser(ROWS, M - i);
                pack_a(rows, depth, a + i * K + p, K, block_a);
                block(rows, columns, depth, block_a, from, N, block_b, c + i * N + j, N, p == 0);
            }
        }
    }
}
