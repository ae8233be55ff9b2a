/* c = a @ b for a few rows of `a`, contiguous row-major arrays: b is read once, in the order it lies in memory.
 *
 * a: (M, K), b: (K, N), c: (M, N), all of ASSAY_T. Any M, N, K, zeros included; more than four rows read b again.
 *
 * With few rows the time is that of reading `b`. A register tile would read it by narrow columns, a page apart; here
 * UNROLL whole rows of `b`, STRIP columns wide, are added to a strip of sums that stays in the first-level cache.
 *
 * Each DEPTH products are summed from zero and then added to `c`: the order of the sums is a function of the sizes
 * and the setting alone, and a long K keeps its error small.
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

enum { LANES = VECTOR_BYTES / sizeof(ASSAY_T), DEPTH = 512 };

static inline vector load(const ASSAY_T *from) {
    vector v;
    memcpy(&v, from, sizeof v);
    return v;
}

static inline void store(ASSAY_T *to, vector v) { memcpy(to, &v, sizeof v); }

static inline int64_t lesser(int64_t x, int64_t y) { return x < y ? x : y; }

/* sums[rows][from..columns] += a[rows][deep] @ b[deep][from..columns], an element at a time: what vectors leave over. */
static void sweep_rest(int rows, int deep, int64_t from, int64_t columns, const ASSAY_T *restrict a, int64_t K,
                       const ASSAY_T *restrict b, int64_t N, ASSAY_T *restrict sums) {
    for (int i = 0; i < rows; i++)
        for (int p = 0; p < deep; p++)
            for (int64_t j = from; j < columns; j++) sums[i * STRIP + j] += a[i * K + p] * b[p * N + j];
}

/* The same over all columns by vectors, where `rows` is a constant at each call. */
static inline __attribute__((always_inline)) void sweep(int rows, int64_t columns, const ASSAY_T *restrict a, int64_t K,
                                                        const ASSAY_T *restrict b, int64_t N, ASSAY_T *restrict sums) {
    int64_t j = 0;
    for (; j + LANES <= columns; j += LANES) {
        vector row[UNROLL];
#pragma GCC unroll 8
        for (int p = 0; p < UNROLL; p++) row[p] = load(b + p * N + j);
#pragma GCC unroll 4
        for (int i = 0; i < rows; i++) {
            vector sum = load(sums + i * STRIP + j);
#pragma GCC unroll 8
            for (int p = 0; p < UNROLL; p++) sum += a[i * K + p] * row[p];
            store(sums + i * STRIP + j, sum);
        }
    }
    if (j < columns) sweep_rest(rows, UNROLL, j, columns, a, K, b, N, sums);
}

static inline __attribute__((always_inline)) void strip(int rows, int64_t columns, const ASSAY_T *restrict a,
                                                        const ASSAY_T *restrict b, ASSAY_T *restrict c, int64_t N,
                                                        int64_t K) {
    ASSAY_T sums[4 * STRIP];
    for (int64_t from = 0; from < K; from += DEPTH) {
        const int64_t end = from + lesser(DEPTH, K - from);
        int64_t p = from;
        for (int i = 0; i < rows; i++) memset(sums + i * STRIP, 0, (size_t)columns * sizeof *sums);
        for (; p + UNROLL <= end; p += UNROLL) sweep(rows, columns, a + p, K, b + p * N, N, sums);
        if (p < end) sweep_rest(rows, (int)(end - p), 0, columns, a + p, K, b + p * N, N, sums);
        for (int i = 0; i < rows; i++)
            for (int64_t j = 0; j < columns; j++)
                c[i * N + j] = from == 0 ? sums[i * STRIP + j] : c[i * N + j] + sums[i * STRIP + j];
    }
}

void gemm(const ASSAY_T *restrict a, const ASSAY_T *restrict b, ASSAY_T *restrict c, int64_t M, int64_t N, int64_t K) {
    if (K == 0) memset(c, 0, (size_t)(M * N) * sizeof *c);

    for (int64_t j = 0; j < N; j += STRIP) {
        const int64_t columns = lesser(STRIP, N - j);
        int64_t i = 0;
        for (; i + 4 <= M; i += 4) strip(4, columns, a + i * K, b + j, c + i * N + j, N, K);
        for (; i + 2 <= M; i += 2) strip(2, columns, a + i * K, b + j, c + i * N + j, N, K);
        for (; i < M; i++) strip(1, columns, a + i * K, b + j, c + i * N + j, N, K);
    }
}
