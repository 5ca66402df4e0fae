"""Hermitian matrices of many frequencies at once, as real rows: half the numbers, and no loop over frequencies.

Matrices (M, M) are packed as (M * M, ...): the diagonal, the real parts of the upper triangle, its imaginary parts;
what follows in the shape (frames, frequencies) is the caller's. Packed matrices add and scale like any array.
"""
from functools import cache

import numpy as np

Packed = np.ndarray   # (M * M, ...) float32


@cache
def _upper(mics: int) -> tuple[np.ndarray, np.ndarray]:
    return np.triu_indices(mics, 1)


def outer(x: np.ndarray) -> Packed:
    """x x^H of spectra (M, ...)."""
    i, j = _upper(len(x))
    cross = x[i] * x[j].conj()
    return np.concatenate([x.real**2 + x.imag**2, cross.real, cross.imag])


def packed(matrices: np.ndarray) -> Packed:
    """(F, M, M) Hermitian -> (M * M, F)."""
    i, j = _upper(matrices.shape[-1])
    cross = matrices[:, i, j].T
    return np.concatenate([np.diagonal(matrices, axis1=1, axis2=2).T.real, cross.real, cross.imag]).astype(np.float32)


def inverse(matrices: Packed, mics: int) -> np.ndarray:
    """Inverses (M, M, ...) complex of positive definite packed matrices, by Gauss-Jordan elimination: these need no
    pivots (Golub and Van Loan, Matrix Computations, 4.2)."""
    i, j = _upper(mics)
    a = np.empty((mics, *matrices[:mics].shape), np.complex64)
    diagonal = np.arange(mics)
    a[diagonal, diagonal] = matrices[:mics]
    a[i, j] = matrices[mics:mics + len(i)] + 1j * matrices[mics + len(i):]
    a[j, i] = a[i, j].conj()
    for k in range(mics):
        pivot = 1 / a[k, k].real
        column, row = a[:, k].copy(), a[k] * pivot
        a -= column[:, None] * row
        a[k], a[:, k], a[k, k] = row, column * -pivot, pivot
    return a


def forms(vectors: np.ndarray) -> np.ndarray:
    """Table (F, 1 + M * (M - 1), D) that gives v^H A v from `reduced` matrices A, of vectors (F, M, D) with elements
    of modulus 1."""
    i, j = _upper(vectors.shape[1])
    cross = 2 * vectors[:, i].conj() * vectors[:, j]
    return np.concatenate([np.ones_like(cross[:, :1].real), cross.real, -cross.imag], axis=1).astype(np.float32)


def reduced(matrices: Packed, mics: int) -> np.ndarray:
    """(1 + M * (M - 1), ...) of packed matrices: the diagonal summed up."""
    return np.concatenate([matrices[:mics].sum(axis=0, keepdims=True), matrices[mics:]])


def reduced_of_whole(matrices: np.ndarray) -> np.ndarray:
    """The same of matrices (M, M, ...)."""
    i, j = _upper(len(matrices))
    cross, diagonal = matrices[i, j], np.arange(len(matrices))
    return np.concatenate([matrices[diagonal, diagonal].real.sum(axis=0, keepdims=True), cross.real, cross.imag])
