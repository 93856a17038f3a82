"""Call the operator from Python. run.sh adds the folder of the built package to PYTHONPATH."""

import myops

a = myops.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
row = myops.tensor([10.0, 20.0, 30.0])

print("myops.myadd(a, row) from Python:", myops.myadd(a, row))
out = myops.tensor([])
print("returns its out= argument:", myops.myadd(a, row, out=out) is out)
try:
    myops.myadd(a, "row")
except TypeError as error:
    print(error)
