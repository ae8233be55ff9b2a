"""The module whose ops may be named alone: `assay explain softmax …`."""

HOME = "assay.zoo"
