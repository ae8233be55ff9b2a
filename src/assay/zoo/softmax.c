/* y = softmax(x) over the last axis of contiguous arrays, in three passes a row: greatest, exponentials, scale.
 *
 * x, y: `count` rows of N, all of ASSAY_T. Any N and any number of rows, zeros included.
 *
 * ROWS rows are worked on together, with UNROLL vectors of each in flight, so that one row's latency (that of the
 * exponential, and of the reductions at its end) hides behind another's. WIDTH is the most bytes to a vector: a
 * narrow one wastes less on a short row. What is left past the last whole vector is read as one more vector that
 * overlaps it; a row shorter than a vector is worked on in a padded copy. Nothing outside x and y is touched.
 *
 * The exponential is this file's own, for arguments that are never positive: 2^n times a polynomial, within 1.1 units
 * in the last place, and zero below the smallest normal number. A row that holds a NaN or +inf, or -inf alone, comes
 * out as NaN throughout, as the formula has it: inf - inf is NaN. The order of the sums is a function of N and the
 * setting alone, so the same row gives the same bits wherever it lies.
 */
#include <math.h>
#include <stdint.h>
#include <string.h>

#if defined(__AVX512F__)
#define REGISTER_BYTES 64
#elif defined(__AVX__)
#define REGISTER_BYTES 32
#else
#define REGISTER_BYTES 16
#endif

#if WIDTH < REGISTER_BYTES
#define VECTOR_BYTES WIDTH
#else
#define VECTOR_BYTES REGISTER_BYTES
#endif

/* A constant for the element type: `single` for four bytes, `full` for eight. */
#define PICK(single, full) ((ASSAY_T)(sizeof(ASSAY_T) == 4 ? (single) : (full)))

typedef __typeof__(__builtin_choose_expr(sizeof(ASSAY_T) == 4, (uint32_t)0, (uint64_t)0)) word;
typedef ASSAY_T vector __attribute__((vector_size(VECTOR_BYTES)));
typedef word words __attribute__((vector_size(VECTOR_BYTES)));

enum {
    LANES = VECTOR_BYTES / sizeof(ASSAY_T),
    STEP = UNROLL * LANES,
    RUN = 64 * STEP, /* elements summed before the sum is carried on: keeps a long row's rounding error short */
    MANTISSA = sizeof(ASSAY_T) == 4 ? 23 : 52,
};

static inline vector load(const ASSAY_T *from) {
    vector v;
    memcpy(&v, from, sizeof v);
    return v;
}

static inline void store(ASSAY_T *to, vector v) { memcpy(to, &v, sizeof v); }

static inline int64_t lesser(int64_t x, int64_t y) { return x < y ? x : y; }

static inline vector either(words mask, vector yes, vector no) {
    return (vector)(((words)yes & mask) | ((words)no & ~mask));
}

static inline vector splat(ASSAY_T x) {
    vector v;
#pragma GCC unroll 16
    for (int i = 0; i < LANES; i++) v[i] = x;
    return v;
}

/* Elementwise; a NaN in `y` is passed over: it comes back through the difference from the greatest. */
static inline vector greater(vector x, vector y) { return either((words)(y > x), y, x); }

static inline ASSAY_T greatest(vector v) {
    ASSAY_T lane[LANES];
    store(lane, v);
#pragma GCC unroll 4
    for (int half = LANES / 2; half; half /= 2)
#pragma GCC unroll 8
        for (int i = 0; i < half; i++) lane[i] = lane[i + half] > lane[i] ? lane[i + half] : lane[i];
    return lane[0];
}

static inline ASSAY_T total(vector v) {
    ASSAY_T lane[LANES];
    store(lane, v);
#pragma GCC unroll 4
    for (int half = LANES / 2; half; half /= 2)
#pragma GCC unroll 8
        for (int i = 0; i < half; i++) lane[i] += lane[i + half];
    return lane[0];
}

/* e^x for x <= 0; zero below the logarithm of the smallest normal number; NaN for NaN.
 *
 * x = n ln 2 + r with |r| <= ln 2 / 2; e^r = 1 + r + r^2 P(r), P fitted for the least greatest relative error on that
 * interval: 3.1e-9 with five terms, 3.6e-18 with ten. Adding and taking away 1.5 * 2^MANTISSA rounds to an integer,
 * and leaves n in the sum's last bits, from where it is shifted into an exponent.
 */
static inline vector exponential(vector x) {
    static const double single[] = {1.381454007457073e-3, 8.368745107803709e-3, 4.1668390785556765e-2,
                                    1.6666520399054424e-1, 4.9999993432119777e-1};
    static const double full[] = {2.5000050912281526053e-8, 2.763026284487135397e-7,  2.7557586481304678554e-6,
                                  2.4801493061604863173e-5, 1.9841269506377611217e-4, 1.3888888943662552172e-3,
                                  8.333333333494590428e-3,  4.1666666666530051108e-2, 1.6666666666666412269e-1,
                                  5.0000000000000106375e-1};
    const ASSAY_T shifter = PICK(12582912.0, 6755399441055744.0);

    const vector shifted = x * PICK(1.4426950408889634, 1.4426950408889634) + shifter;
    const vector n = shifted - shifter;
    const vector r = (x - n * PICK(0.693359375, 6.93147180369123816490e-1)) -
                     n * PICK(-2.12194440054717129e-4, 1.90821492927058770002e-10);

    vector p = splat(PICK(single[0], full[0]));
    if (sizeof(ASSAY_T) == 4) {
#pragma GCC unroll 8
        for (int i = 1; i < 5; i++) p = p * r + (ASSAY_T)single[i];
    } else {
#pragma GCC unroll 16
        for (int i = 1; i < 10; i++) p = p * r + (ASSAY_T)full[i];
    }
    p = (p * r) * r + r + 1;

    const word one = (word)(MANTISSA == 23 ? 127 : 1023) << MANTISSA;
    const vector power = (vector)(((words)shifted << MANTISSA) + one);
    const words underflows = (words)(x < PICK(-87.336544, -708.39641853226408));
    return (vector)((words)(p * power) & ~underflows);
}

/* The lanes of the last vector of a row that no whole vector holds: all ones there. */
static inline words fresh(int64_t N) {
    words lane;
#pragma GCC unroll 16
    for (int i = 0; i < LANES; i++) lane[i] = (word)i;
    return (words)(lane >= (word)(LANES - N % LANES));
}

static inline __attribute__((always_inline)) void find_greatest(int rows, const ASSAY_T *restrict x, int64_t N,
                                                                ASSAY_T *restrict top) {
    vector best[4][UNROLL];
#pragma GCC unroll 4
    for (int r = 0; r < rows; r++)
#pragma GCC unroll 4
        for (int u = 0; u < UNROLL; u++) best[r][u] = splat(-(ASSAY_T)INFINITY);

    int64_t j = 0;
    for (; j + STEP <= N; j += STEP)
#pragma GCC unroll 4
        for (int r = 0; r < rows; r++)
#pragma GCC unroll 4
            for (int u = 0; u < UNROLL; u++) best[r][u] = greater(best[r][u], load(x + r * N + j + u * LANES));
    for (; j + LANES <= N; j += LANES)
#pragma GCC unroll 4
        for (int r = 0; r < rows; r++) best[r][0] = greater(best[r][0], load(x + r * N + j));

#pragma GCC unroll 4
    for (int r = 0; r < rows; r++) {
        best[r][0] = greater(best[r][0], load(x + r * N + N - LANES));
#pragma GCC unroll 4
        for (int u = 1; u < UNROLL; u++) best[r][0] = greater(best[r][0], best[r][u]);
        top[r] = greatest(best[r][0]);
    }
}

/* y = e^(x - top), and its sum. */
static inline __attribute__((always_inline)) void exponentials(int rows, const ASSAY_T *restrict x,
                                                               ASSAY_T *restrict y, int64_t N,
                                                               const ASSAY_T *restrict top, ASSAY_T *restrict sum) {
    vector carried[4];
#pragma GCC unroll 4
    for (int r = 0; r < rows; r++) carried[r] = splat(0);

    int64_t j = 0;
    while (j + STEP <= N) {
        const int64_t end = lesser(j + RUN, N);
        vector part[4][UNROLL];
#pragma GCC unroll 4
        for (int r = 0; r < rows; r++)
#pragma GCC unroll 4
            for (int u = 0; u < UNROLL; u++) part[r][u] = splat(0);
        for (; j + STEP <= end; j += STEP)
#pragma GCC unroll 4
            for (int r = 0; r < rows; r++)
#pragma GCC unroll 4
                for (int u = 0; u < UNROLL; u++) {
                    const int64_t at = r * N + j + u * LANES;
                    const vector e = exponential(load(x + at) - top[r]);
                    store(y + at, e);
                    part[r][u] += e;
                }
#pragma GCC unroll 4
        for (int r = 0; r < rows; r++)
#pragma GCC unroll 4
            for (int u = 0; u < UNROLL; u++) carried[r] += part[r][u];
    }
    for (; j + LANES <= N; j += LANES)
#pragma GCC unroll 4
        for (int r = 0; r < rows; r++) {
            const vector e = exponential(load(x + r * N + j) - top[r]);
            store(y + r * N + j, e);
            carried[r] += e;
        }
    if (j < N)
#pragma GCC unroll 4
        for (int r = 0; r < rows; r++) {
            const vector e = exponential(load(x + r * N + N - LANES) - top[r]);
            store(y + r * N + N - LANES, e);
            carried[r] += either(fresh(N), e, splat(0));
        }
#pragma GCC unroll 4
    for (int r = 0; r < rows; r++) sum[r] = total(carried[r]);
}

static inline void scale(ASSAY_T *y, int64_t N, ASSAY_T by) {
    const vector last = load(y + N - LANES); /* before the loop scales the lanes it shares */
    for (int64_t j = 0; j + LANES <= N; j += LANES) store(y + j, load(y + j) * by);
    store(y + N - LANES, last * by);
}

static inline __attribute__((always_inline)) void together(int rows, const ASSAY_T *restrict x, ASSAY_T *restrict y,
                                                           int64_t N) {
    ASSAY_T top[4], sum[4];
    find_greatest(rows, x, N, top);
    exponentials(rows, x, y, N, top, sum);
    for (int r = 0; r < rows; r++) scale(y + r * N, N, 1 / sum[r]);
}

/* A row shorter than a vector: the padding's exponentials are zero. */
static void narrow(const ASSAY_T *restrict x, ASSAY_T *restrict y, int64_t N) {
    ASSAY_T row[LANES];
    for (int64_t j = 0; j < LANES; j++) row[j] = j < N ? x[j] : -(ASSAY_T)INFINITY;
    const ASSAY_T top = greatest(load(row));
    const vector e = exponential(load(row) - top);
    store(row, e * (1 / total(e)));
    for (int64_t j = 0; j < N; j++) y[j] = row[j];
}

void softmax(const ASSAY_T *restrict x, ASSAY_T *restrict y, int64_t count, int64_t N) {
    int64_t i = 0;
    if (N < LANES) {
        for (; i < count; i++) narrow(x + i * N, y + i * N, N);
        return;
    }
    for (; i + ROWS <= count; i += ROWS) together(ROWS, x + i * N, y + i * N, N);
    for (; i < count; i++) together(1, x + i * N, y + i * N, N);
}
