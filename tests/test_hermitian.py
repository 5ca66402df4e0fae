"""Packed Hermitian matrices against numpy's own."""
import numpy as np
import pytest

from perception.audio.hermitian import forms, inverse, outer, packed, reduced, reduced_of_whole

BINS = 5


def spectra(mics: int) -> np.ndarray:
    rng = np.random.default_rng(mics)
    return (rng.standard_normal((mics, BINS)) + 1j * rng.standard_normal((mics, BINS))).astype(np.complex64)


def covariances(mics: int) -> np.ndarray:
    """(F, M, M), well conditioned."""
    x = spectra(mics).T
    return x[:, :, None] * x[:, None].conj() + 0.5 * np.eye(mics)


@pytest.mark.parametrize("mics", [2, 4, 7])
def test_packing_keeps_outer_products(mics):
    x = spectra(mics)
    assert np.allclose(outer(x), packed(x.T[:, :, None] * x.T[:, None].conj()), atol=1e-5)


@pytest.mark.parametrize("mics", [2, 4, 7])
def test_inverses_are_numpys(mics):
    matrices = covariances(mics)
    assert np.allclose(inverse(packed(matrices), mics).transpose(2, 0, 1), np.linalg.inv(matrices), atol=1e-4)


@pytest.mark.parametrize("mics", [2, 4, 7])
def test_forms_give_powers_of_beams(mics):
    matrices = covariances(mics)
    phase = np.random.default_rng(9).uniform(0, 2 * np.pi, (BINS, mics, 6))
    vectors = np.exp(1j * phase)
    expected = np.einsum("fmd,fmn,fnd->fd", vectors.conj(), matrices, vectors).real
    for rows in (reduced(packed(matrices), mics), reduced_of_whole(matrices.transpose(1, 2, 0))):
        assert np.allclose(np.einsum("rf,frd->fd", rows, forms(vectors)), expected, rtol=1e-3, atol=1e-3)
