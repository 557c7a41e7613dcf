import Operator
