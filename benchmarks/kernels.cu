// Long kernels of many kinds, so that the listing is long and hardly repeats itself: special functions in double and
// single precision, register-blocked matrix products in several shapes, a bitonic network, reductions, bit tricks.
#include <cuda_fp16.h>

template <typename T> __global__ void special(T* x, const T* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  T a = x[i], b = y[i];
  x[i] = sin(a) + cos(b) * tgamma(a) + erf(b) / lgamma(a) + pow(a, b) + j0(a) + y1(b) + cbrt(a) + atan2(a, b);
  x[i + n] = fmod(a, b) + remainder(b, a) + asinh(a) + log1p(b) + expm1(a) + erfcinv(b) + normcdf(a) + sinpi(b);
}
template __global__ void special<double>(double*, const double*, int);
template __global__ void special<float>(float*, const float*, int);

template <typename T, int M, int N, int K> __global__ void product(const T* a, const T* b, T* c, int stride) {
  __shared__ T tile_a[K][M * 8], tile_b[K][N * 8];
  T sum[M][N] = {};
  int x = threadIdx.x % 8, y = threadIdx.x / 8;
  for (int k = 0; k < stride; k += K) {
    for (int i = threadIdx.x; i < K * M * 8; i += blockDim.x) tile_a[i / (M * 8)][i % (M * 8)] = a[k * stride + i];
    for (int i = threadIdx.x; i < K * N * 8; i += blockDim.x) tile_b[i / (N * 8)][i % (N * 8)] = b[k * stride + i];
    __syncthreads();
#pragma unroll
    for (int l = 0; l < K; ++l)
#pragma unroll
      for (int m = 0; m < M; ++m)
#pragma unroll
        for (int n = 0; n < N; ++n) sum[m][n] += tile_a[l][y * M + m] * tile_b[l][x * N + n];
    __syncthreads();
  }
  for (int m = 0; m < M; ++m)
    for (int n = 0; n < N; ++n) c[(y * M + m) * stride + x * N + n] = sum[m][n];
}
template __global__ void product<float, 8, 8, 8>(const float*, const float*, float*, int);
template __global__ void product<float, 4, 16, 16>(const float*, const float*, float*, int);
template __global__ void product<double, 4, 4, 16>(const double*, const double*, double*, int);
template __global__ void product<double, 6, 6, 8>(const double*, const double*, double*, int);
template __global__ void product<int, 8, 4, 16>(const int*, const int*, int*, int);
template __global__ void product<unsigned long long, 4, 4, 8>(const unsigned long long*, const unsigned long long*,
                                                              unsigned long long*, int);
template __global__ void product<__half2, 8, 8, 8>(const __half2*, const __half2*, __half2*, int);

template <typename T, int N> __global__ void network(T* keys) {
  T k[N];
#pragma unroll
  for (int i = 0; i < N; ++i) k[i] = keys[threadIdx.x * N + i];
#pragma unroll
  for (int size = 2; size <= N; size *= 2)
#pragma unroll
    for (int step = size / 2; step > 0; step /= 2)
#pragma unroll
      for (int i = 0; i < N; ++i) {
        int j = i ^ step;
        if (j > i && (k[i] > k[j]) == ((i & size) == 0)) {
          T t = k[i];
          k[i] = k[j];
          k[j] = t;
        }
      }
#pragma unroll
  for (int i = 0; i < N; ++i) keys[threadIdx.x * N + i] = k[i];
}
template __global__ void network<int, 64>(int*);
template __global__ void network<float, 64>(float*);
template __global__ void network<long long, 32>(long long*);
template __global__ void network<double, 32>(double*);
template __global__ void network<short, 32>(short*);

template <int ROUNDS> __global__ void bits(unsigned* w, unsigned long long* h) {
  unsigned a = w[0], b = w[1], c = w[2], d = w[3];
#pragma unroll
  for (int i = 0; i < ROUNDS; ++i) {
    a += (b & c | ~b & d) + w[i + 4] * 0x9e3779b9u + i * 0x85ebca6bu;
    a = __funnelshift_l(a, a, i % 31 + 1) ^ __brev(c) + __popc(d) + __clz(b);
    unsigned t = __byte_perm(a, b, 0x3210 + i);
    d = c, c = b, b = a, a = t;
    h[i] = __umul64hi(h[i], (unsigned long long)a * b + c) / (d | 1) % (h[i + 1] | 3);
  }
  w[0] = a + b + c + d;
}
template __global__ void bits<40>(unsigned*, unsigned long long*);
